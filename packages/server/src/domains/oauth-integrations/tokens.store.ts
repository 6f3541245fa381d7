/** The tokens of people. */
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

export type TokenStatus = 'active' | 'expired' | 'revoked' | 'error';

/** What people see of a connection. */
export interface ShownTokenRow {
  id: number;
  integrationId: number;
  userId: number;
  status: TokenStatus;
  lastError: string | null;
  accessTokenExpiresAt: string | null;
  refreshTokenExpiresAt: string | null;
  createdAt: string;
  updatedAt: string;
}

/** An access token without a refresh token is shown as expired after its end, even if its row does not say so yet. */
const SHOWN = sql`
  id, integration_id as "integrationId", user_id as "userId",
  case when status = 'active' and refresh_token is null and access_expires_at <= now() then 'expired' else status end
    as status,
  case when status = 'active' and refresh_token is null and access_expires_at <= now()
    then 'The access has ended. Connect again.' else last_error end as "lastError",
  access_expires_at as "accessTokenExpiresAt", refresh_expires_at as "refreshTokenExpiresAt",
  created_at as "createdAt", updated_at as "updatedAt"`;
const IS_LIVE = sql`revoked_at is null
  and exists (select from oauth_integrations i where i.id = integration_id and i.deleted_at is null)`;

export const listTokens = (db: Queryable, userId: number) =>
  db.many<ShownTokenRow>(
    sql`select ${SHOWN} from oauth_tokens where user_id = ${userId} and ${IS_LIVE} order by integration_id`,
  );

export const findToken = (db: Queryable, userId: number, integrationId: number) =>
  db.maybeOne<ShownTokenRow>(sql`
    select ${SHOWN} from oauth_tokens where user_id = ${userId} and integration_id = ${integrationId} and ${IS_LIVE}`);

export const lockToken = (tx: Tx, userId: number, integrationId: number) =>
  tx.maybeOne<ShownTokenRow>(sql`
    select ${SHOWN} from oauth_tokens where user_id = ${userId} and integration_id = ${integrationId} and ${IS_LIVE}
    for update`);

/** Locks the person: nobody else can give them tokens until the transaction ends. */
export const lockPerson = (tx: Tx, userId: number) =>
  tx.maybeOne<{ id: number }>(sql`
    select id from users where id = ${userId} and embed_tenant is null and deleted_at is null for no key update`);

export const nextTokenId = async (tx: Tx) =>
  (await tx.one<{ id: number }>(sql`select nextval(pg_get_serial_sequence('oauth_tokens', 'id')) as id`)).id;

/** Times are ISO 8601. */
export interface SealedTokens {
  accessToken: Buffer;
  refreshToken: Buffer | null;
  accessExpiresAt: string | null;
  refreshExpiresAt: string | null;
}

export interface NewToken extends SealedTokens {
  id: number;
  integrationId: number;
  userId: number;
}

export const insertToken = (tx: Tx, token: NewToken) =>
  tx.one<ShownTokenRow>(sql`
    insert into oauth_tokens (id, integration_id, user_id, access_token, refresh_token, access_expires_at,
                              refresh_expires_at, status)
    values (${token.id}, ${token.integrationId}, ${token.userId}, ${token.accessToken}, ${token.refreshToken},
            ${token.accessExpiresAt}, ${token.refreshExpiresAt}, 'active')
    returning ${SHOWN}`);

/** The person has connected again. */
export const replaceToken = (tx: Tx, token: NewToken) =>
  tx.one<ShownTokenRow>(sql`
    update oauth_tokens
    set access_token = ${token.accessToken}, refresh_token = ${token.refreshToken},
        access_expires_at = ${token.accessExpiresAt}, refresh_expires_at = ${token.refreshExpiresAt},
        status = 'active', last_error = null, version = version + 1, leased_until = null, retry_at = null,
        created_at = now(), updated_at = now()
    where id = ${token.id} returning ${SHOWN}`);

export const markRevoked = (tx: Tx, id: number) =>
  tx.run(sql`update oauth_tokens set revoked_at = now(), version = version + 1 where id = ${id}`);

/** The integration has become another one, so its tokens are worth nothing. */
export const forgetTokensOf = (tx: Tx, integrationId: number, lastError: string) =>
  tx.run(sql`
    update oauth_tokens
    set status = 'revoked', last_error = ${lastError}, access_token = null, refresh_token = null,
        access_expires_at = null, refresh_expires_at = null, version = version + 1, leased_until = null
    where integration_id = ${integrationId} and revoked_at is null`);

export interface UsedTokenRow {
  id: number;
  integrationId: number;
  userId: number;
  accessToken: Buffer | null;
  refreshToken: Buffer | null;
  status: TokenStatus;
  lastError: string | null;
  version: number;
  /** When the person connected. */
  connectedAt: string;
  /** How long the access token is still valid; null if the service did not say. */
  secondsLeft: number | null;
  /** How long it was valid when it was given. */
  lifeSeconds: number | null;
  isRetriedLater: boolean;
}

/** By the clock of the database, which all servers share. */
export const findUsedToken = (db: Queryable, userId: number, integrationId: number) =>
  db.maybeOne<UsedTokenRow>(sql`
    select id, integration_id as "integrationId", user_id as "userId", access_token as "accessToken",
           refresh_token as "refreshToken", status, last_error as "lastError", version,
           created_at as "connectedAt",
           extract(epoch from access_expires_at - now())::float8 as "secondsLeft",
           extract(epoch from access_expires_at - updated_at)::float8 as "lifeSeconds",
           coalesce(retry_at > now(), false) as "isRetriedLater"
    from oauth_tokens where user_id = ${userId} and integration_id = ${integrationId} and ${IS_LIVE}`);

/** Of all servers, one gets to renew this version of the tokens. */
export const leaseToken = async (db: Queryable, { id, version }: UsedTokenRow, seconds: number) =>
  (await db.run(sql`
    update oauth_tokens set leased_until = now() + ${seconds} * interval '1 second'
    where id = ${id} and version = ${version} and (leased_until is null or leased_until < now())`)) === 1;

/** Returns false if the tokens have changed, ended or been replaced since they were read. */
export const storeRenewed = async (
  db: Queryable,
  { id, version }: UsedTokenRow,
  tokens: SealedTokens,
  pauseSeconds: number | null,
) =>
  (await db.run(sql`
    update oauth_tokens
    set access_token = ${tokens.accessToken}, refresh_token = coalesce(${tokens.refreshToken}, refresh_token),
        access_expires_at = ${tokens.accessExpiresAt},
        refresh_expires_at = coalesce(${tokens.refreshExpiresAt}::timestamptz, refresh_expires_at),
        status = 'active', last_error = null, version = version + 1, leased_until = null,
        retry_at = now() + ${pauseSeconds} * interval '1 second', updated_at = now()
    where id = ${id} and version = ${version} and ${IS_LIVE}`)) === 1;

/** The tokens can never be renewed. */
export const storeEnded = (db: Queryable, { id, version }: UsedTokenRow, lastError: string) =>
  db.run(sql`
    update oauth_tokens
    set status = 'expired', last_error = ${lastError}, access_token = null, refresh_token = null,
        version = version + 1, leased_until = null
    where id = ${id} and version = ${version}`);

/** Records that the tokens could not be renewed now, but may be later. */
export const storeFailed = (
  db: Queryable,
  { id, version }: UsedTokenRow,
  { status, lastError, seconds }: { status: TokenStatus; lastError: string; seconds: number },
) =>
  db.run(sql`
    update oauth_tokens
    set status = ${status}, last_error = ${lastError}, retry_at = now() + ${seconds} * interval '1 second',
        leased_until = null
    where id = ${id} and version = ${version}`);

export interface RevokedTokenRow {
  id: number;
  integrationId: number;
  userId: number;
  accessToken: Buffer | null;
  refreshToken: Buffer | null;
}

/** Tokens that are to be revoked at their service, also those of deleted integrations. */
export const listRevokedTokens = (db: Queryable, afterId: number, rows: number) =>
  db.many<RevokedTokenRow>(sql`
    select id, integration_id as "integrationId", user_id as "userId", access_token as "accessToken",
           refresh_token as "refreshToken"
    from oauth_tokens
    where id > ${afterId} and (revoked_at is not null
      or integration_id in (select id from oauth_integrations where deleted_at is not null))
    order by id limit ${rows}`);

export const deleteToken = (db: Queryable, id: number) =>
  db.run(sql`delete from oauth_tokens where id = ${id}`);

/** Deletes tokens that could not be revoked at their service for a day. */
export const deleteUnrevokable = (db: Queryable, rows: number) =>
  db.run(sql`
    delete from oauth_tokens where id = any(array(
      select t.id from oauth_tokens t join oauth_integrations i on i.id = t.integration_id
      where coalesce(t.revoked_at, i.deleted_at) < now() - interval '1 day' limit ${rows}))`);
