import type { Queryable, Tx } from '../../platform/db/database.ts';
import { join, raw, type Sql, sql } from '../../platform/db/sql.ts';

export interface TenantRow {
  id: number;
  name: string;
  displayName: string | null;
  createdAt: string;
}

export interface EmbedUserRow {
  id: number;
  username: string;
  externalId: string;
  email: string | null;
  firstName: string | null;
  createdAt: string;
  lastLogin: string | null;
}

export interface Page {
  afterId: number;
  limit: number;
}

const COLUMNS = sql`t.id, t.name, t.display_name as "displayName", t.created_at as "createdAt"`;

/** Of the external user `u`. */
export const USER_COLUMNS = sql`
  u.id, u.username, u.external_id as "externalId", u.email, u.first_name as "firstName",
  u.created_at as "createdAt", u.last_login as "lastLogin"`;

/** The text as it stands, without patterns. Both sides are lowered by the database, so that they agree. */
const isFound = (search: string | null, texts: Sql[]): Sql =>
  search === null
    ? sql`true`
    : sql`(${join(
        texts.map((text) => sql`strpos(lower(${text}), lower(${search})) > 0`),
        ' or ',
      )})`;

export const listTenants = (db: Queryable, search: string | null, page: Page) =>
  db.many<TenantRow & { userCount: number }>(sql`
    select ${COLUMNS}, (select count(*) from users u where u.embed_tenant = t.name) as "userCount"
    from embed_tenants t
    where t.id > ${page.afterId} and ${isFound(search, [raw('t.name'), raw('t.display_name')])}
    order by t.id limit ${page.limit}`);

export const hasTenant = async (db: Queryable, name: string) =>
  (await db.run(sql`select from embed_tenants where name = ${name}`)) === 1;

/** Nothing where it is there already. */
export const insertTenant = (tx: Tx, name: string) =>
  tx.maybeOne<TenantRow>(sql`
    insert into embed_tenants as t (name) values (${name}) on conflict (name) do nothing returning ${COLUMNS}`);

/** Comes before locks on its users, everywhere. Others may still add users, and not delete the tenant. */
export const lockTenant = async (tx: Tx, name: string) =>
  (await tx.run(sql`select from embed_tenants where name = ${name} for no key update`)) === 1;

export const lockTenantForDeletion = (tx: Tx, name: string) =>
  tx.maybeOne<TenantRow>(sql`select ${COLUMNS} from embed_tenants t where t.name = ${name} for update`);

export const listUsers = (db: Queryable, tenant: string, search: string | null, page: Page) =>
  db.many<EmbedUserRow>(sql`
    select ${USER_COLUMNS} from users u
    where u.embed_tenant = ${tenant} and u.id > ${page.afterId}
      and ${isFound(search, [raw('u.external_id'), raw('u.email'), raw('u.first_name')])}
    order by u.id limit ${page.limit}`);

/** Keeps others from changing the users of the tenant, and from making anything theirs. */
export const lockUsers = (tx: Tx, tenant: string) =>
  tx.run(sql`select from users where embed_tenant = ${tenant} order by id for update`);

/** What belongs to the tenant or to its users. What lies in a folder or workbook goes with it, by foreign keys. */
export const deleteContent = (tx: Tx, table: 'folders' | 'workbooks' | 'reports', tenant: string) =>
  tx.run(sql`
    delete from ${raw(table)} where id in (
      select id from ${raw(table)} where embed_tenant = ${tenant}
      union
      select c.id from users u join ${raw(table)} c on c.user_id = u.id where u.embed_tenant = ${tenant})`);

export const deleteSessions = (tx: Tx, tenant: string) =>
  tx.run(sql`delete from embed_sessions where embed_tenant = ${tenant}`);

export const deleteGroups = (tx: Tx, tenant: string) =>
  tx.run(sql`delete from user_groups where coalesce(embed_tenant, '') = ${tenant}`);

export const deleteAttributes = (tx: Tx, tenant: string) =>
  tx.run(sql`delete from user_attributes where coalesce(embed_tenant, '') = ${tenant}`);

export const deleteUsers = (tx: Tx, tenant: string) =>
  tx.run(sql`delete from users where embed_tenant = ${tenant}`);

export const deleteTenant = (tx: Tx, name: string) =>
  tx.run(sql`delete from embed_tenants where name = ${name}`);
