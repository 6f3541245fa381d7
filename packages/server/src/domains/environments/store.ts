import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, type Sql, sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';
import type { Purpose } from './rules.ts';

export interface TokenRow {
  id: number;
  ending: string;
  securityContext: object;
  createdAt: string;
  expiresAt: string;
}

const COLUMNS = sql`
  id, ending, security_context as "securityContext", created_at as "createdAt", expires_at as "expiresAt"`;

export interface Environment {
  deploymentId: number;
  branchId: number;
}

const valid = ({ deploymentId, branchId }: Environment): Sql => sql`
  deployment_id = ${deploymentId} and branch_id = ${branchId} and expires_at > now()`;

export const listTokens = (db: Queryable, environment: Environment, page: PageById & { offset: number }) =>
  db.many<TokenRow>(sql`
    select ${COLUMNS} from environment_tokens where ${valid(environment)} and id > ${page.afterId}
    order by id limit ${page.limit} offset ${page.offset}`);

export const countTokens = async (db: Queryable, environment: Environment) =>
  (await db.one<{ count: number }>(sql`select count(*) from environment_tokens where ${valid(environment)}`))
    .count;

export const deleteToken = (tx: Tx, environment: Environment, id: number) =>
  tx.maybeOne<TokenRow & { scopes: string[] }>(sql`
    delete from environment_tokens where ${valid(environment)} and id = ${id} returning ${COLUMNS}, scopes`);

/** Counts the valid tokens of all environments. */
export const countTokensOfDeployment = async (db: Queryable, deploymentId: number) =>
  (
    await db.one<{ count: number }>(sql`
      select count(*) from environment_tokens where deployment_id = ${deploymentId} and expires_at > now()`)
  ).count;

export interface NewToken extends Environment {
  hash: Buffer;
  ending: string;
  userId: number;
  apiKeyId: number | null;
  sessionId: number | null;
  purpose: Purpose;
  scopes: string[];
  securityContext: object;
  lifeSeconds: number;
}

export const insertToken = (tx: Tx, token: NewToken) =>
  tx.one<TokenRow>(sql`
    insert into environment_tokens (token_hash, ending, deployment_id, branch_id, user_id, api_key_id, session_id,
                                    purpose, scopes, security_context, expires_at)
    values (${token.hash}, ${token.ending}, ${token.deploymentId}, ${token.branchId}, ${token.userId},
            ${token.apiKeyId}, ${token.sessionId}, ${token.purpose}, ${token.scopes},
            ${json(token.securityContext)}, now() + ${token.lifeSeconds} * interval '1 second')
    returning ${COLUMNS}`);

/** Who the user is, for a token that queries as them. */
export interface IdentityRow {
  username: string;
  email: string | null;
  securityContext: object | null;
}

export const findIdentity = (db: Queryable, userId: number) =>
  db.one<IdentityRow>(sql`
    select username, email, security_context as "securityContext" from users where id = ${userId}`);

export const deleteExpiredTokens = (db: Queryable, rows: number) =>
  db.run(sql`
    delete from environment_tokens where id = any(array(
      select id from environment_tokens where expires_at <= now() order by expires_at limit ${rows}))`);
