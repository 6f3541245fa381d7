import type { Action } from '@oriel/contract';
import type { Queryable } from '../db/database.ts';
import { json, sql } from '../db/sql.ts';

/** What a person may do, by roles and by policies on deployments. */
export interface PermissionRow {
  actions: Action[];
  deploymentActions: { deploymentId: number; action: Action }[];
}

export interface CredentialRow extends PermissionRow {
  userId: number;
  apiKeyId: number;
  deploymentIds: number[] | null;
  expiresAt: string | null;
}

/** Of the user `u`. */
const PERMISSIONS = sql`
  coalesce((select json_agg(distinct action)
            from user_roles ur join roles r on r.id = ur.role_id, unnest(r.actions) action
            where ur.user_id = u.id), '[]') as actions,
  coalesce((select json_agg(json_build_object('deploymentId', p.resource_id, 'action', p.action))
            from resource_policies p
            where p.resource_type = 'Deployment' and (
              p.user_id = u.id
              or p.group_id in (select group_id from user_group_members where user_id = u.id)
              or p.role_id in (select role_id from user_roles where user_id = u.id))),
           '[]') as "deploymentActions"`;

/** Keys `k` of users `u` that have not expired, and whose user is not deactivated. */
const VALID_KEYS = sql`api_keys k join users u
  on u.id = k.user_id and not u.is_deactivated and (k.expires_at is null or k.expires_at > now())`;

/** The valid key with this hash. */
export const findCredential = (db: Queryable, keyHash: Buffer) =>
  db.maybeOne<CredentialRow>(
    sql`select k.user_id as "userId", k.id as "apiKeyId", k.expires_at as "expiresAt",
               to_json(k.deployment_ids) as "deploymentIds", ${PERMISSIONS}
        from ${VALID_KEYS} where k.key_hash = ${keyHash}`.named('find-credential'),
  );

/** Of these hashes those of valid keys, in hexadecimal. */
export const listKnownHashes = async (db: Queryable, keyHashes: Buffer[]) =>
  (
    await db.many<{ hash: string }>(
      sql`select encode(k.key_hash, 'hex') as hash from ${VALID_KEYS}
          where k.key_hash = any(${keyHashes}::bytea[])`.named('list-known-hashes'),
    )
  ).map(({ hash }) => hash);

/** Times that are older than what is stored change nothing. */
export const updateKeysLastUsed = (db: Queryable, uses: { apiKeyId: number; at: string }[]) =>
  db.run(sql`
    update api_keys k set last_used_at = u.at
    from unnest(${uses.map((use) => use.apiKeyId)}::bigint[], ${uses.map((use) => use.at)}::timestamptz[]) as u (id, at)
    where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)`);

/** What an active person may do. */
export const findPermissions = (db: Queryable, userId: number) =>
  db.maybeOne<PermissionRow>(
    sql`select ${PERMISSIONS} from users u
        where u.id = ${userId} and u.embed_tenant is null and not u.is_deactivated`.named('find-permissions'),
  );

export interface SigningKeyRow {
  id: string;
  publicKey: { kty: string; crv: string; x: string };
  privateKey: Buffer;
}

/** Newest first. */
export const listSigningKeys = (db: Queryable) =>
  db.many<SigningKeyRow>(sql`
    select id, public_key as "publicKey", private_key as "privateKey" from signing_keys order by created_at desc, id`);

/** Nothing happens where there is a key that is young enough. Answers whether it was needed. */
export const insertSigningKey = async (db: Queryable, key: SigningKeyRow, maxAgeDays: number) =>
  (await db.run(sql`
    insert into signing_keys (id, public_key, private_key)
    select ${key.id}, ${json(key.publicKey)}, ${key.privateKey}
    where not exists (select from signing_keys where created_at > now() - make_interval(hours => ${maxAgeDays * 24}))`)) ===
  1;

/** Those that a newer one replaced long enough ago. */
export const deleteReplacedSigningKeys = (db: Queryable, replacedForDays: number) =>
  db.run(sql`
    delete from signing_keys old using signing_keys newer
    where newer.created_at > old.created_at and newer.created_at < now() - make_interval(hours => ${replacedForDays * 24})`);

export interface RevocationRow {
  sessionId: number | null;
  userId: number | null;
  embedTenant: string | null;
  apiKeyId: number | null;
  deploymentId: number | null;
  /** Of everybody in creator mode. */
  creatorMode: true | null;
  /** In seconds: what was exchanged up to here is revoked. */
  until: number;
}

export const REVOCATION_COLUMNS = sql`
  session_id as "sessionId", user_id as "userId", embed_tenant as "embedTenant", api_key_id as "apiKeyId",
  deployment_id as "deploymentId", creator_mode as "creatorMode", extract(epoch from revoked_at)::float8 as until`;

export const listRevocations = (db: Queryable) =>
  db.many<RevocationRow>(sql`select ${REVOCATION_COLUMNS} from embed_revocations`);

/** Whether a session is there and was not revoked, neither by itself nor with others. */
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

/** Other servers note uses as well: what is stored changes only by as much as `everyMs`. */
export const updateSessionsLastSeen = (
  db: Queryable,
  seen: { sessionId: number; at: string }[],
  everyMs: number,
) =>
  db.run(sql`
    with seen as (
      update embed_sessions s set last_seen_at = g.at
      from unnest(${seen.map(({ sessionId }) => sessionId)}::bigint[], ${seen.map(({ at }) => at)}::timestamptz[]) as g (id, at)
      where s.id = g.id
        and (s.last_seen_at is null or s.last_seen_at <= g.at - make_interval(secs => ${everyMs / 1000}))
      returning s.user_id, g.at)
    update users u set last_login = l.at from (select user_id, max(at) as at from seen group by 1) l
    where u.id = l.user_id and u.embed_tenant is not null and (u.last_login is null or u.last_login < l.at)`);
