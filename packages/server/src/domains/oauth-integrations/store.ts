/** The integrations. */
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, sql } from '../../platform/db/sql.ts';

/** What an integration has beside its addresses; see `OAuthIntegrationConfig` in the contract. */
export interface IntegrationConfig {
  revocationUrl?: string;
  issuer?: string;
  clientAuthentication?: 'client_secret_basic' | 'client_secret_post';
  authorizationParameters?: Record<string, string>;
  hosts?: string[];
}

export interface IntegrationRow {
  id: number;
  name: string;
  type: string;
  authUrl: string;
  tokenUrl: string;
  clientId: string;
  /** The end of the address to which the service sends people back; empty for the one without a name. */
  redirectName: string;
  scopes: string[];
  config: IntegrationConfig;
  revision: number;
  createdAt: string;
  updatedAt: string;
}

export interface SealedIntegrationRow extends IntegrationRow {
  clientSecret: Buffer;
}

const COLUMNS = sql`
  id, name, type, auth_url as "authUrl", token_url as "tokenUrl", client_id as "clientId",
  redirect_name as "redirectName", to_json(scopes) as scopes, config, revision, created_at as "createdAt", updated_at as "updatedAt"`;
const WITH_SECRET = sql`${COLUMNS}, client_secret as "clientSecret"`;

export const listIntegrations = (db: Queryable) =>
  db.many<IntegrationRow>(
    sql`select ${COLUMNS} from oauth_integrations where deleted_at is null order by id`,
  );

export const findIntegration = (db: Queryable, id: number) =>
  db.maybeOne<IntegrationRow>(
    sql`select ${COLUMNS} from oauth_integrations where id = ${id} and deleted_at is null`,
  );

/** Also one that was deleted, whose tokens are still to be revoked. */
export const findAnyIntegration = (db: Queryable, id: number) =>
  db.maybeOne<SealedIntegrationRow>(sql`select ${WITH_SECRET} from oauth_integrations where id = ${id}`);

export const findSealedIntegration = (db: Queryable, id: number) =>
  db.maybeOne<SealedIntegrationRow>(
    sql`select ${WITH_SECRET} from oauth_integrations where id = ${id} and deleted_at is null`,
  );

export const lockIntegration = (tx: Tx, id: number) =>
  tx.maybeOne<SealedIntegrationRow>(
    sql`select ${WITH_SECRET} from oauth_integrations where id = ${id} and deleted_at is null for update`,
  );

/** Nobody changes or deletes it until the transaction ends. */
export const holdIntegration = (tx: Tx, id: number) =>
  tx.maybeOne<Pick<IntegrationRow, 'revision'>>(
    sql`select revision from oauth_integrations where id = ${id} and deleted_at is null for share`,
  );

/** Serializes creations, so that two at once do not pass the limit together. */
export const lockCreation = (tx: Tx) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtext('oauth_integrations'))`);

export const countIntegrations = async (tx: Tx) =>
  (
    await tx.one<{ count: number }>(
      sql`select count(*)::int as count from oauth_integrations where deleted_at is null`,
    )
  ).count;

export const nextIntegrationId = async (tx: Tx) =>
  (
    await tx.one<{ id: number }>(
      sql`select nextval(pg_get_serial_sequence('oauth_integrations', 'id')) as id`,
    )
  ).id;

export type IntegrationFields = Omit<SealedIntegrationRow, 'revision' | 'createdAt' | 'updatedAt'>;

export const insertIntegration = (tx: Tx, given: IntegrationFields) =>
  tx.one<IntegrationRow>(sql`
    insert into oauth_integrations (
      id, name, type, auth_url, token_url, client_id, redirect_name, client_secret, scopes, config)
    values (${given.id}, ${given.name}, ${given.type}, ${given.authUrl}, ${given.tokenUrl}, ${given.clientId},
            ${given.redirectName}, ${given.clientSecret}, ${given.scopes}::text[], ${json(given.config)})
    returning ${COLUMNS}`);

export const updateIntegration = (tx: Tx, given: IntegrationFields) =>
  tx.one<IntegrationRow>(sql`
    update oauth_integrations
    set name = ${given.name}, type = ${given.type}, auth_url = ${given.authUrl}, token_url = ${given.tokenUrl},
        client_id = ${given.clientId}, redirect_name = ${given.redirectName}, client_secret = ${given.clientSecret}, scopes = ${given.scopes}::text[],
        config = ${json(given.config)}, revision = revision + 1, updated_at = now()
    where id = ${given.id} returning ${COLUMNS}`);

/** The other integrations to whose address a service would send people back too. */
export const listSharing = (tx: Tx, redirectName: string, exceptId: number) =>
  tx.many<{ authUrl: string }>(sql`
    select auth_url as "authUrl" from oauth_integrations
    where redirect_name = ${redirectName} and id <> ${exceptId} and deleted_at is null`);

export const hideIntegration = (tx: Tx, id: number) =>
  tx.run(sql`update oauth_integrations set deleted_at = now() where id = ${id}`);

/** The secret key was lost. Each integration stays, and its secret must be given again. */
export async function clearSecrets(tx: Tx) {
  await tx.run(sql`delete from oauth_flows`);
  await tx.run(sql`delete from oauth_tokens`);
  await tx.run(sql`update oauth_integrations set client_secret = ''`);
}

/** Deletes hidden integrations whose tokens are gone. */
export const deleteHiddenIntegrations = (db: Queryable, rows: number) =>
  db.run(sql`
    delete from oauth_integrations where id = any(array(
      select id from oauth_integrations i where deleted_at is not null
        and not exists (select from oauth_tokens where integration_id = i.id) limit ${rows}))`);
