import type { Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';
import { PERMISSIONS, type PermissionRow } from '../access/index.ts';

export interface CredentialRow extends PermissionRow {
  userId: number;
  apiKeyId: number;
  deploymentIds: number[] | null;
  expiresAt: string | null;
}

/** Keys `k` of users `u` that have not expired, and whose user is not deactivated. */
const VALID_KEYS = sql`api_keys k join users u
  on u.id = k.user_id and not u.is_deactivated and (k.expires_at is null or k.expires_at > now())`;

/** Finds the valid key with this hash, with the permissions of its user. */
export const findCredential = (db: Queryable, keyHash: Buffer) =>
  db.maybeOne<CredentialRow>(
    sql`select k.user_id as "userId", k.id as "apiKeyId", k.expires_at as "expiresAt",
               to_json(k.deployment_ids) as "deploymentIds", ${PERMISSIONS}
        from ${VALID_KEYS} where k.key_hash = ${keyHash}`.named('find-credential'),
  );

/** Returns those of the hashes that belong to valid keys, in hexadecimal. */
export const listKnownHashes = async (db: Queryable, keyHashes: Buffer[]) =>
  (
    await db.many<{ hash: string }>(
      sql`select encode(k.key_hash, 'hex') as hash from ${VALID_KEYS}
          where k.key_hash = any(${keyHashes}::bytea[])`.named('list-known-hashes'),
    )
  ).map(({ hash }) => hash);

/** A time that is older than the stored one changes nothing. */
export const updateLastUsed = (db: Queryable, uses: { id: number; at: string }[]) =>
  db.run(sql`
    update api_keys k set last_used_at = u.at
    from unnest(${uses.map(({ id }) => id)}::bigint[], ${uses.map(({ at }) => at)}::timestamptz[]) as u (id, at)
    where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)`);
