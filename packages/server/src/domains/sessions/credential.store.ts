import type { Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';
import { PERMISSIONS, type PermissionRow } from '../access/index.ts';

export interface CredentialRow extends PermissionRow {
  userId: number;
  sessionId: number;
  expiresAt: string;
}

/** Tokens `t` of sessions `s` that have not expired, and whose user `u` is not deactivated. */
const VALID_TOKENS = sql`session_tokens t join sessions s on s.id = t.session_id
  join users u on u.id = s.user_id and not u.is_deactivated and t.expires_at > now()`;

/** Finds the valid token with this hash, with the permissions of its user. */
export const findCredential = (db: Queryable, tokenHash: Buffer) =>
  db.maybeOne<CredentialRow>(
    sql`select s.user_id as "userId", s.id as "sessionId", t.expires_at as "expiresAt", ${PERMISSIONS}
        from ${VALID_TOKENS} where t.token_hash = ${tokenHash}`.named('find-session-credential'),
  );

export interface SignedInPerson {
  userId: number;
  sessionId: number;
  email: string;
}

/** The user of the valid token with this hash. */
export const findSignedIn = (db: Queryable, tokenHash: Buffer) =>
  db.maybeOne<SignedInPerson>(sql`
    select s.user_id as "userId", s.id as "sessionId", u.shown_email as email from ${VALID_TOKENS} where t.token_hash = ${tokenHash}`);

/** Returns those of the hashes that belong to valid tokens, in hexadecimal. */
export const listKnownHashes = async (db: Queryable, tokenHashes: Buffer[]) =>
  (
    await db.many<{ hash: string }>(
      sql`select encode(t.token_hash, 'hex') as hash from ${VALID_TOKENS}
          where t.token_hash = any(${tokenHashes}::bytea[])`.named('list-known-token-hashes'),
    )
  ).map(({ hash }) => hash);
