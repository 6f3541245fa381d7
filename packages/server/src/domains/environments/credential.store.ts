import type { Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';
import { PERMISSIONS, type PermissionRow } from '../access/index.ts';
import type { Purpose } from './rules.ts';

export interface CredentialRow extends PermissionRow {
  tokenId: number;
  userId: number;
  apiKeyId: number | null;
  deploymentId: number;
  branchId: number;
  purpose: Purpose;
  scopes: string[];
  securityContext: object;
  expiresAt: string;
}

/**
 * Tokens `t` that have not expired, with their creator `u`, and with the API key `k` or the session `s` that they were made
 * with. The deployment exists, the creator is not deactivated, and the key would still reach the deployment.
 */
const VALID_TOKENS = sql`environment_tokens t
  join deployments d on d.id = t.deployment_id
  join users u on u.id = t.user_id and not u.is_deactivated
  left join api_keys k on k.id = t.api_key_id
  left join sessions s on s.id = t.session_id
  where least(t.expires_at, k.expires_at, s.expires_at) > now()
    and (k.deployment_ids is null or t.deployment_id = any(k.deployment_ids))`;

/** Finds the valid token with this hash, with the permissions of its creator. */
export const findCredential = (db: Queryable, tokenHash: Buffer) =>
  db.maybeOne<CredentialRow>(
    sql`select t.id as "tokenId", t.user_id as "userId", t.api_key_id as "apiKeyId",
               t.deployment_id as "deploymentId", t.branch_id as "branchId", t.purpose, t.scopes,
               t.security_context as "securityContext", least(t.expires_at, k.expires_at, s.expires_at) as "expiresAt",
               ${PERMISSIONS}
        from ${VALID_TOKENS} and t.token_hash = ${tokenHash}`.named('find-environment-credential'),
  );

/** Returns those of the hashes that belong to valid tokens, in hexadecimal. */
export const listKnownHashes = async (db: Queryable, tokenHashes: Buffer[]) =>
  (
    await db.many<{ hash: string }>(
      sql`select encode(t.token_hash, 'hex') as hash from ${VALID_TOKENS}
            and t.token_hash = any(${tokenHashes}::bytea[])`.named('list-known-environment-hashes'),
    )
  ).map(({ hash }) => hash);
