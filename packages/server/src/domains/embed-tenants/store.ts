import type { HiddenTenant } from '../../platform/cleanup.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { join, raw, type Sql, sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';

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

const COLUMNS = sql`t.id, t.name, t.display_name as "displayName", t.created_at as "createdAt"`;

/** Columns of the external user `u`. */
export const EMBED_USER_COLUMNS = sql`
  u.id, u.username, u.external_id as "externalId", u.email, u.first_name as "firstName",
  u.created_at as "createdAt", u.last_login as "lastLogin"`;

/** Searches for the exact text, without patterns. The database lowers the case of both sides, so that they agree. */
const isFound = (search: string | null, texts: Sql[]): Sql =>
  search === null
    ? sql`true`
    : sql`(${join(
        texts.map((text) => sql`strpos(lower(${text}), lower(${search})) > 0`),
        ' or ',
      )})`;

export const listTenants = (db: Queryable, search: string | null, page: PageById) =>
  db.many<TenantRow & { userCount: number }>(sql`
    select ${COLUMNS}, (select count(*) from users u where u.embed_tenant = t.name) as "userCount"
    from embed_tenants t
    where t.id > ${page.afterId} and t.deleted_at is null and ${isFound(search, [raw('t.name'), raw('t.display_name')])}
    order by t.id limit ${page.limit}`);

export const hasTenant = async (db: Queryable, name: string) =>
  (await db.run(sql`select from embed_tenants where name = ${name} and deleted_at is null`)) === 1;

/** Returns nothing if the tenant already exists. */
export const insertTenant = (tx: Tx, name: string) =>
  tx.maybeOne<TenantRow>(sql`
    insert into embed_tenants as t (name) values (${name}) on conflict (name) do nothing returning ${COLUMNS}`);

/** Always taken before locks on users of the tenant. Others can still add users, but cannot delete the tenant. */
export const lockTenantForChange = async (tx: Tx, name: string) =>
  (await tx.run(
    sql`select from embed_tenants where name = ${name} and deleted_at is null for no key update`,
  )) === 1;

export const lockTenantForDeletion = (tx: Tx, name: string) =>
  tx.maybeOne<TenantRow>(sql`
    select ${COLUMNS} from embed_tenants t where t.name = ${name} and t.deleted_at is null for update`);

export const listUsers = (db: Queryable, tenant: string, search: string | null, page: PageById) =>
  db.many<EmbedUserRow>(sql`
    select ${EMBED_USER_COLUMNS} from users u
    where u.embed_tenant = ${tenant} and u.id > ${page.afterId}
      and ${isFound(search, [raw('u.external_id'), raw('u.email'), raw('u.first_name')])}
    order by u.id limit ${page.limit}`);

/**
 * Renames the tenant, and with it its users, groups and attributes: nobody finds them by the old name any more, and the
 * name is free for another tenant. The tenant also gets a new id, so a reader who has the old id finds nothing. Content
 * stays, but is hidden.
 */
export const hideTenant = (tx: Tx, name: string) =>
  tx.one<{ hiddenName: string; contentKey: string }>(sql`
    update embed_tenants set name = '~' || id, id = default, deleted_at = now() where name = ${name}
    returning name as "hiddenName", content_key as "contentKey"`);

export const deleteTenant = (db: Queryable, { hiddenName }: HiddenTenant) =>
  db.run(sql`delete from embed_tenants where name = ${hiddenName}`);

/** Returns false if the tenant has already been removed. */
export const hasHiddenTenant = async (db: Queryable, { hiddenName }: HiddenTenant) =>
  (await db.run(sql`select from embed_tenants where name = ${hiddenName}`)) === 1;
