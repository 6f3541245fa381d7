import type { Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

export interface RevocationRow {
  sessionId: number | null;
  userId: number | null;
  embedTenant: string | null;
  apiKeyId: number | null;
  deploymentId: number | null;
  /** True if the revocation ends all tokens in creator mode. */
  creatorMode: true | null;
  /** In seconds. Tokens that were exchanged up to this time are revoked. */
  until: number;
}

export const REVOCATION_COLUMNS = sql`
  session_id as "sessionId", user_id as "userId", embed_tenant as "embedTenant", api_key_id as "apiKeyId",
  deployment_id as "deploymentId", creator_mode as "creatorMode", extract(epoch from revoked_at)::float8 as until`;

/**
 * Lists the revocations that can be about a token that has not expired. Older ones are for what lasts longer than a
 * token, such as subscriptions.
 */
export const listRevocations = (db: Queryable) =>
  db.many<RevocationRow>(sql`
    select ${REVOCATION_COLUMNS} from embed_revocations where revoked_at > now() - interval '25 hours'`);

/** Returns whether the session exists and was not revoked, alone or together with others. */
export const isLiveSession = async (db: Queryable, sessionId: number) =>
  (
    await db.one<{ exists: boolean }>(
      sql`select exists (
            select from embed_sessions s where id = ${sessionId} and revoked_at is null and not exists (
              select from embed_revocations r
              where r.revoked_at >= s.exchanged_at
                and (r.user_id = s.user_id or r.embed_tenant = s.embed_tenant or r.api_key_id = s.api_key_id
                     or r.deployment_id = s.deployment_id or (r.creator_mode and s.creator_mode))))`.named(
        'is-live-session',
      ),
    )
  ).exists;

/**
 * Changes a stored time only if the new one is at least `everyMs` later, because other servers also note uses. Returns
 * the user of each session that changed.
 */
export const updateLastSeen = (db: Queryable, seen: { id: number; at: string }[], everyMs: number) =>
  db.many<{ userId: number; at: string }>(sql`
    update embed_sessions s set last_seen_at = g.at
    from unnest(${seen.map(({ id }) => id)}::bigint[], ${seen.map(({ at }) => at)}::timestamptz[]) as g (id, at)
    where s.id = g.id
      and (s.last_seen_at is null or s.last_seen_at <= g.at - make_interval(secs => ${everyMs / 1000}))
    returning s.user_id as "userId", g.at`);
