import type { Queryable, Tx } from '../../../platform/db/database.ts';
import { type Sql, sql } from '../../../platform/db/sql.ts';
import { type EmbedUserRow, type Page, USER_COLUMNS } from '../store.ts';

export interface GroupRow {
  id: number;
  name: string;
  description: string | null;
  userCount: number;
}

const COLUMNS = sql`
  g.id, g.name, g.description,
  (select count(*) from user_group_members m where m.group_id = g.id) as "userCount"`;

/** The catalogue that these operations show. The other namespace of the embed tenant is none of it. */
const inCatalogue = (tenant: string): Sql =>
  sql`coalesce(g.embed_tenant, '') = ${tenant} and g.namespace = 'groups'`;

export const listGroups = (db: Queryable, tenant: string, page: Page) =>
  db.many<GroupRow>(sql`
    select ${COLUMNS} from user_groups g
    where ${inCatalogue(tenant)} and g.id > ${page.afterId} order by g.id limit ${page.limit}`);

export const findGroup = (db: Queryable, tenant: string, id: number) =>
  db.maybeOne<GroupRow>(
    sql`select ${COLUMNS} from user_groups g where g.id = ${id} and ${inCatalogue(tenant)}`,
  );

export const insertGroup = (tx: Tx, tenant: string, group: Pick<GroupRow, 'name' | 'description'>) =>
  tx.one<GroupRow>(sql`
    insert into user_groups as g (embed_tenant, namespace, name, description)
    values (${tenant}, 'groups', ${group.name}, ${group.description}) returning ${COLUMNS}`);

export const updateGroup = (tx: Tx, group: Pick<GroupRow, 'id' | 'description'>) =>
  tx.one<GroupRow>(sql`
    update user_groups g set description = ${group.description} where g.id = ${group.id} returning ${COLUMNS}`);

export const deleteGroup = (tx: Tx, id: number) => tx.run(sql`delete from user_groups where id = ${id}`);

export const listMembers = (db: Queryable, groupId: number, page: Page) =>
  db.many<EmbedUserRow>(sql`
    select ${USER_COLUMNS} from user_group_members m join users u on u.id = m.user_id
    where m.group_id = ${groupId} and m.user_id > ${page.afterId}
    order by m.user_id limit ${page.limit}`);

/**
 * Of the named users those that the tenant has. Their memberships change only here until the end of the transaction:
 * minting a session, which replaces them, takes the same lock.
 */
export const lockUsers = (tx: Tx, tenant: string, named: { ids: number[]; externalIds: string[] }) =>
  tx.many<EmbedUserRow>(sql`
    select ${USER_COLUMNS} from users u
    where u.embed_tenant = ${tenant}
      and (u.id = any(${named.ids}::bigint[]) or u.external_id = any(${named.externalIds}::text[]))
    order by u.id for no key update`);

/** Answers who was no member before. */
export const insertMembers = async (tx: Tx, groupId: number, users: { id: number }[]) =>
  toIds(
    await tx.many(sql`
      insert into user_group_members (group_id, user_id)
      select ${groupId}, unnest(${toIds(users)}::bigint[]) on conflict do nothing
      returning user_id as id`),
  );

/** Answers who was a member before. */
export const deleteMembers = async (tx: Tx, groupId: number, users: { id: number }[]) =>
  toIds(
    await tx.many(sql`
      delete from user_group_members where group_id = ${groupId} and user_id = any(${toIds(users)}::bigint[])
      returning user_id as id`),
  );

const toIds = (rows: { id: number }[]) => rows.map(({ id }) => id).sort((a, b) => a - b);
