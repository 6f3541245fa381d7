import type { Queryable, Tx } from '../../platform/db/database.ts';
import { join, type Sql, sql } from '../../platform/db/sql.ts';
import { REVOCATION_COLUMNS, type RevocationRow } from './tokens.store.ts';

export type State = 'minted' | 'exchanged' | 'expired' | 'revoked';

export interface EntryRow {
  id: number;
  state: State;
  deploymentId: number;
  embedTenantName: string;
  externalId: string | null;
  internalId: string | null;
  creatorMode: boolean;
  apiKeyId: number;
  createdAt: string;
  expiresAt: string;
  exchangedAt: string | null;
  revokedAt: string | null;
  lastSeenAt: string | null;
}

export interface EntryFilter {
  embedTenantName?: string | null;
  externalId?: string | null;
  deploymentId?: number | null;
  apiKeyId?: number | null;
  state?: State | null;
  /** The deployments that the caller may read; null for all. */
  within: readonly number[] | null;
}

const STATES: Record<State, Sql> = {
  revoked: sql`s.revoked_at is not null`,
  expired: sql`s.revoked_at is null and s.expires_at <= now()`,
  exchanged: sql`s.revoked_at is null and s.expires_at > now() and s.exchanged_at is not null`,
  minted: sql`s.revoked_at is null and s.expires_at > now() and s.exchanged_at is null`,
};

const COLUMNS = sql`
  s.id, case when ${STATES.revoked} then 'revoked' when ${STATES.expired} then 'expired'
             when ${STATES.exchanged} then 'exchanged' else 'minted' end as state,
  s.deployment_id as "deploymentId", s.embed_tenant as "embedTenantName",
  case when u.embed_tenant is not null then u.external_id end as "externalId",
  case when u.embed_tenant is null then u.username end as "internalId",
  s.creator_mode as "creatorMode", s.api_key_id as "apiKeyId", s.created_at as "createdAt",
  s.expires_at as "expiresAt", s.exchanged_at as "exchangedAt", s.revoked_at as "revokedAt",
  s.last_seen_at as "lastSeenAt"`;

/** Leaves out sessions of users, embed tenants and deployments that are deleted but not yet removed. */
const FROM = sql`embed_sessions s join users u
  on u.id = s.user_id and u.deleted_at is null and (u.embed_tenant is null or u.embed_tenant = s.embed_tenant)
  join deployments d on d.id = s.deployment_id`;

const within = (deploymentIds: readonly number[] | null) =>
  deploymentIds === null ? sql`true` : sql`s.deployment_id = any(${deploymentIds}::bigint[])`;

export function listEntries(
  db: Queryable,
  filter: EntryFilter,
  page: { beforeId: number | null; limit: number },
) {
  const conditions = [within(filter.within)];
  if (page.beforeId !== null) conditions.push(sql`s.id < ${page.beforeId}`);
  if (filter.embedTenantName != null) conditions.push(sql`s.embed_tenant = ${filter.embedTenantName}`);
  if (filter.deploymentId != null) conditions.push(sql`s.deployment_id = ${filter.deploymentId}`);
  if (filter.apiKeyId != null) conditions.push(sql`s.api_key_id = ${filter.apiKeyId}`);
  if (filter.state != null) conditions.push(STATES[filter.state]);
  if (filter.externalId != null) {
    conditions.push(sql`s.user_id = any(array(
      select id from users where external_id = ${filter.externalId} and embed_tenant is not null))`);
  }
  return db.many<EntryRow>(sql`
    select ${COLUMNS} from ${FROM} where ${join(conditions, ' and ')} order by s.id desc limit ${page.limit}`);
}

export const findEntry = (db: Queryable, id: number, deploymentIds: readonly number[] | null) =>
  db.maybeOne<EntryRow>(sql`select ${COLUMNS} from ${FROM} where s.id = ${id} and ${within(deploymentIds)}`);

/** The session, or the group of sessions, that one call revokes. */
export type Target =
  | { sessionId: number }
  | { embedTenantName: string }
  | { externalId: string; embedTenantName: string }
  | { apiKeyId: number }
  | { deploymentId: number };

export interface RevocationResult {
  /** How many sessions ended. */
  count: number;
  /** The revocation that servers must know; undefined if the user does not exist, so that no token can end. */
  entry: RevocationRow | undefined;
}

/**
 * Ends the live sessions of the target. The revocation is inserted last, because its time must be later than the
 * exchange of every session that the update has found.
 */
export async function revokeSessions(tx: Tx, target: Target): Promise<RevocationResult> {
  const [condition, entry] = await describe(tx, target);
  if (!condition) return { count: 0, entry: undefined };
  const count = await tx.run(sql`
    update embed_sessions set revoked_at = now() where ${condition} and revoked_at is null and expires_at > now()`);
  return {
    count,
    entry: await tx.one<RevocationRow>(
      sql`insert into embed_revocations ${entry} returning ${REVOCATION_COLUMNS}`,
    ),
  };
}

async function describe(tx: Tx, target: Target): Promise<[Sql, Sql] | [undefined, undefined]> {
  if ('sessionId' in target)
    return [sql`id = ${target.sessionId}`, sql`(session_id) values (${target.sessionId})`];
  if ('apiKeyId' in target)
    return [sql`api_key_id = ${target.apiKeyId}`, sql`(api_key_id) values (${target.apiKeyId})`];
  if ('deploymentId' in target)
    return [
      sql`deployment_id = ${target.deploymentId}`,
      sql`(deployment_id) values (${target.deploymentId})`,
    ];
  const { embedTenantName: tenant } = target;
  if (!('externalId' in target))
    return [sql`embed_tenant = ${tenant}`, sql`(embed_tenant) values (${tenant})`];
  const user = await tx.maybeOne<{ id: number }>(
    sql`select id from users where embed_tenant = ${tenant} and external_id = ${target.externalId}`,
  );
  return user ? [sql`user_id = ${user.id}`, sql`(user_id) values (${user.id})`] : [undefined, undefined];
}
