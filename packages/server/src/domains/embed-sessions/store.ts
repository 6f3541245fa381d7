import type { AttributeValue } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, raw, type Sql, sql } from '../../platform/db/sql.ts';
import type { AttributeType } from '../user-attributes/index.ts';
import { isPerson, usernameKey } from '../users/index.ts';
import type { Refusal } from './rules.ts';

/** The caller who mints, for the ledger and the audit log. */
export interface MintOrigin {
  userId: number;
  /** Null for an admin who signed in. They can provision viewers, but not mint. */
  apiKeyId: number | null;
  embedTenantName: string;
  ip: string;
  requestId: string;
}

export interface MintInput {
  /** The request without nulls, with the embed tenant, the id of the internal user and one list of group definitions. */
  request: object;
  secretHash: Buffer;
  maxExternalUsers: number;
  origin: MintOrigin;
}

export interface Rehearsal {
  errors: Refusal[];
  viewerId: number | null;
  tenantIsNew: boolean;
  viewerIsNew: boolean;
  changed: string[];
  definitions: { created: string[]; updated: string[] };
}

const mint = ({ request, secretHash, maxExternalUsers, origin }: MintInput, isDryRun: boolean) =>
  sql`select mint_embed_session(${json(request)}::jsonb, ${secretHash}, ${maxExternalUsers},
                                ${json(origin)}::jsonb, ${isDryRun}) as result`.named('mint-embed-session');

export interface MintedSession {
  id: number;
  viewerId: number;
  /** The notification for `db.notify`. */
  told: string | null;
}

export const insertSession = async (db: Queryable, input: MintInput) =>
  (await db.one<{ result: MintedSession }>(mint(input, false))).result;

/** Does everything that minting does, except for inserting the session. If there are errors, the caller must roll back. */
export const rehearseSession = async (tx: Tx, input: MintInput) =>
  (await tx.one<{ result: Rehearsal }>(mint(input, true))).result;

/** Returns the id of the active person with this username. */
export const findInternalUserId = async (db: Queryable, username: string) =>
  (
    await db.maybeOne<{ id: number }>(
      sql`select id from users u
          where ${usernameKey(raw('u.username'))} = ${usernameKey(username)} and ${isPerson} and not is_deactivated`,
    )
  )?.id;

export const findExternalUserId = async (db: Queryable, embedTenant: string, externalId: string) =>
  (
    await db.maybeOne<{ id: number }>(
      sql`select id from users where embed_tenant = ${embedTenant} and external_id = ${externalId}`,
    )
  )?.id;

export interface ExchangedRow {
  sessionId: number;
  userId: number;
  deploymentId: number;
  embedTenant: string;
  creatorMode: boolean;
  apiKeyId: number;
  isInternal: boolean;
  exchangedAt: number;
}

export interface SessionCredential {
  id: number;
  secretHash: Buffer;
}

/**
 * Exchanges the sessions and returns those that could be exchanged, each with its position in the list. If several
 * calls exchange one session in parallel, only one call gets it. Without `waits`, sessions that another call has locked
 * are left out.
 */
export const exchangeSessions = (db: Queryable, given: SessionCredential[], waits: boolean) =>
  db.many<ExchangedRow & { n: number }>(
    sql`select n, session_id as "sessionId", user_id as "userId", deployment_id as "deploymentId",
               embed_tenant as "embedTenant", creator_mode as "creatorMode", api_key_id as "apiKeyId",
               is_internal as "isInternal", exchanged_at as "exchangedAt"
        from exchange_embed_sessions(${given.map(({ id }) => id)}, ${given.map(({ secretHash }) => secretHash)}, ${waits})`.named(
      'exchange-embed-sessions',
    ),
  );

export interface SessionRow {
  userId: number;
  deploymentId: number;
  embedTenant: string;
  creatorMode: boolean;
  securityContext: Record<string, unknown> | null;
  settings: { showDashboardChat?: boolean | null } | null;
  embedTheme: object | null;
  expiresAt: string;
  externalId: string | null;
  username: string;
  email: string | null;
  displayName: string | null;
  picture: string | null;
  launchpadTabs: string[] | null;
  defaultLaunchpadViewGroup: string | null;
}

export const findSession = (db: Queryable, id: number) =>
  db.maybeOne<SessionRow>(
    sql`select s.user_id as "userId", s.deployment_id as "deploymentId", s.embed_tenant as "embedTenant",
               s.creator_mode as "creatorMode", s.security_context as "securityContext", s.settings,
               s.embed_theme as "embedTheme", s.expires_at as "expiresAt",
               case when u.embed_tenant is not null then u.external_id end as "externalId", u.username, u.email,
               u.first_name as "displayName", u.picture, p.launchpad_tabs as "launchpadTabs",
               p.default_launchpad_view_group as "defaultLaunchpadViewGroup"
        from embed_sessions s join users u on u.id = s.user_id left join deployments p on p.id = s.deployment_id
        where s.id = ${id}`.named('find-embed-session'),
  );

export interface RightsRow {
  groups: string[];
  tenantGroups: string[];
  attributes: {
    name: string;
    type: AttributeType;
    value: AttributeValue | null;
    defaultValue: string | null;
  }[];
}

/** The columns of a `RightsRow`. */
export const rightsOf = (userId: number | null | Sql, embedTenant: string | null | Sql) => sql`
  ${groupNames(userId, embedTenant, sql`m.in_groups`)} as groups,
  ${groupNames(userId, embedTenant, sql`m.in_tenant_groups`)} as "tenantGroups",
  coalesce((select json_agg(json_build_object('name', a.name, 'type', a.type, 'value', v.value,
                                              'defaultValue', a.default_value) order by a.name collate "C")
            from user_attributes a
            left join user_attribute_values v on v.attribute_id = a.id and v.user_id = ${userId}
            where coalesce(a.embed_tenant, '') = coalesce(${embedTenant}, '')), '[]') as attributes`;

/** Returns the user's groups and attributes in the embed tenant, or in the account if `embedTenant` is null. */
export const findRights = (db: Queryable, userId: number | null, embedTenant: string | null) =>
  db.one<RightsRow>(sql`select ${rightsOf(userId, embedTenant)}`.named('find-embed-rights'));

/** Which of these groups there are. */
export const listGroupNames = async (db: Queryable, embedTenant: string | null, names: string[]) =>
  (
    await db.many<{ name: string }>(sql`
      select name from user_groups
      where coalesce(embed_tenant, '') = coalesce(${embedTenant}, '') and name = any(${names})`)
  ).map(({ name }) => name);

const groupNames = (userId: number | null | Sql, embedTenant: string | null | Sql, isOfKind: Sql) => sql`
  coalesce((select json_agg(g.name order by g.name collate "C")
            from user_group_members m join user_groups g on g.id = m.group_id
            where m.user_id = ${userId} and coalesce(g.embed_tenant, '') = coalesce(${embedTenant}, '')
              and ${isOfKind}), '[]')`;

/** Deletes up to `limit` of the oldest sessions, if they and their tokens ended at least `endedForDays` ago. */
export const deleteEndedSessions = (db: Queryable, endedForDays: number, limit: number) =>
  db.run(sql`
    delete from embed_sessions where id = any(array(
      select id from embed_sessions order by id limit ${limit}))
    and created_at < now() - make_interval(hours => ${(endedForDays + 1) * 24})`);

/** Deletes the revocations that are older than every valid token. */
export const deleteOldRevocations = (db: Queryable) =>
  db.run(sql`delete from embed_revocations where revoked_at < now() - interval '9 days'`);
