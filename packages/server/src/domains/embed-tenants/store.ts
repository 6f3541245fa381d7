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

/** Of the external user `u`. */
export const EMBED_USER_COLUMNS = sql`
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

export const listTenants = (db: Queryable, search: string | null, page: PageById) =>
  db.many<TenantRow & { userCount: number }>(sql`
    select ${COLUMNS}, (select count(*) from users u where u.embed_tenant = t.name) as "userCount"
    from embed_tenants t
    where t.id > ${page.afterId} and t.deleted_at is null and ${isFound(search, [raw('t.name'), raw('t.display_name')])}
    order by t.id limit ${page.limit}`);

export const hasTenant = async (db: Queryable, name: string) =>
  (await db.run(sql`select from embed_tenants where name = ${name} and deleted_at is null`)) === 1;

/** Nothing where it is there already. */
export const insertTenant = (tx: Tx, name: string) =>
  tx.maybeOne<TenantRow>(sql`
    insert into embed_tenants as t (name) values (${name}) on conflict (name) do nothing returning ${COLUMNS}`);

/** Comes before locks on its users, everywhere. Others may still add users, and not delete the tenant. */
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
 * Takes the name from the tenant, and its users, groups and attributes with it: nobody finds them by it any more, and it
 * is free for another tenant. Who looks at the tenant by its id right now finds that it is gone. Content stays where it
 * is, out of sight.
 */
export const hideTenant = (tx: Tx, name: string) =>
  tx.one<{ hiddenName: string; contentKey: string }>(sql`
    update embed_tenants set name = '~' || id, id = default, deleted_at = now() where name = ${name}
    returning name as "hiddenName", content_key as "contentKey"`);

/** Users of a deleted tenant do not count towards the limit. Answers how many there are. */
export const uncountUsers = async (tx: Tx, hiddenName: string) => {
  const { users } = await tx.one<{ users: number }>(
    sql`select count(*) as users from users where embed_tenant = ${hiddenName}`,
  );
  if (users > 0) await tx.run(sql`update external_user_count set count = count - ${users} where singleton`);
  return users;
};

/**
 * Ends the sessions of the tenant that had this name. Those that are not exchanged yet are the ones of the last minutes,
 * and go at once. Tokens of the others end by the revocation, which comes last: its time must be later than the exchange
 * of each. Answers the last session that there was.
 */
export async function endSessions(tx: Tx, name: string): Promise<number> {
  await tx.run(sql`
    delete from embed_sessions where embed_tenant = ${name} and exchanged_at is null and id > coalesce((
      select id from embed_sessions where embed_tenant = ${name} and created_at < now() - interval '10 minutes'
      order by id desc limit 1), 0)`);
  const { last } = await tx.one<{ last: number }>(
    sql`select coalesce(max(id), 0) as last from embed_sessions where embed_tenant = ${name}`,
  );
  await tx.run(sql`insert into embed_revocations (embed_tenant) values (${name})`);
  return last;
}

/** A tenant that was deleted and not removed yet. */
export interface HiddenTenant {
  name: string;
  hiddenName: string;
  contentKey: string;
  lastSessionId: number;
}

const owned = (hiddenName: string): Sql =>
  sql`user_id in (select id from users where embed_tenant = ${hiddenName})`;

/** What of each table is left of the tenant, in an order that an index has, or in which no folder takes others along. */
const LEFTOVERS = {
  embed_sessions: ({ name, lastSessionId }: HiddenTenant) =>
    sql`embed_tenant = ${name} and id <= ${lastSessionId} order by id`,
  reports: ({ contentKey }: HiddenTenant) => sql`embed_tenant = ${contentKey}`,
  'reports of its users': ({ hiddenName }: HiddenTenant) => owned(hiddenName),
  workbooks: ({ contentKey }: HiddenTenant) => sql`embed_tenant = ${contentKey}`,
  'workbooks of its users': ({ hiddenName }: HiddenTenant) => owned(hiddenName),
  folders: ({ contentKey }: HiddenTenant) =>
    sql`embed_tenant = ${contentKey} order by cardinality(path) desc`,
  'folders of its users': ({ hiddenName }: HiddenTenant) =>
    sql`${owned(hiddenName)} order by cardinality(path) desc`,
  users: ({ hiddenName }: HiddenTenant) => sql`embed_tenant = ${hiddenName}`,
  user_groups: ({ hiddenName }: HiddenTenant) => sql`coalesce(embed_tenant, '') = ${hiddenName}`,
  user_attributes: ({ hiddenName }: HiddenTenant) => sql`coalesce(embed_tenant, '') = ${hiddenName}`,
};
export const LEFTOVER_KINDS = Object.keys(LEFTOVERS) as (keyof typeof LEFTOVERS)[];

/** Removes up to so many rows, and answers how many there were. */
export const deleteLeftovers = (
  db: Queryable,
  tenant: HiddenTenant,
  kind: keyof typeof LEFTOVERS,
  rows: number,
) => {
  const table = raw(kind.split(' ')[0]!);
  return db.run(sql`
    delete from ${table} where id = any(array(select id from ${table} where ${LEFTOVERS[kind](tenant)} limit ${rows}))`);
};

/** False while content is left: who held something of it while it was removed may have made a copy. */
export const deleteTenant = async (db: Queryable, { hiddenName, contentKey }: HiddenTenant) => {
  const { left } = await db.one<{ left: boolean }>(sql`
    select exists (select from reports where embed_tenant = ${contentKey})
        or exists (select from workbooks where embed_tenant = ${contentKey})
        or exists (select from folders where embed_tenant = ${contentKey}) as left`);
  if (!left) await db.run(sql`delete from embed_tenants where name = ${hiddenName}`);
  return !left;
};

/** False where its removal has ended before. */
export const hasHiddenTenant = async (db: Queryable, { hiddenName }: HiddenTenant) =>
  (await db.run(sql`select from embed_tenants where name = ${hiddenName}`)) === 1;
