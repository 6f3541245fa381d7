import type { Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';

export interface UserGroupRow {
  id: number;
  name: string;
  description: string | null;
  userCount: number;
}

export interface MemberRow {
  id: number;
  username: string;
  email: string;
  firstName: string | null;
  picture: string | null;
}

const COLUMNS = sql`
  g.id, g.name, g.description,
  (select count(*) from user_group_members m where m.group_id = g.id) as "userCount"`;

export const listUserGroups = (db: Queryable, page: PageById) =>
  db.many<UserGroupRow>(sql`
    select ${COLUMNS} from user_groups g where g.embed_tenant is null and g.id > ${page.afterId} order by g.id limit ${page.limit}`);

export const findUserGroup = (db: Queryable, id: number) =>
  db.maybeOne<UserGroupRow>(
    sql`select ${COLUMNS} from user_groups g where g.embed_tenant is null and g.id = ${id}`,
  );

/**
 * Nobody else can change the group and its members until the transaction ends. The group must be read in another
 * statement after this one, because a statement that waited for the lock would count the members from before the wait.
 */
export const lockUserGroup = (tx: Tx, id: number) =>
  tx.run(sql`select from user_groups where embed_tenant is null and id = ${id} for update`);

export const insertUserGroup = (tx: Tx, group: Pick<UserGroupRow, 'name' | 'description'>) =>
  tx.one<UserGroupRow>(sql`
    insert into user_groups as g (name, description) values (${group.name}, ${group.description})
    returning ${COLUMNS}`);

export const insertMissingGroup = (
  tx: Tx,
  { name, description }: Pick<UserGroupRow, 'name' | 'description'>,
) =>
  tx.run(sql`
    insert into user_groups (name, description) values (${name}, ${description}) on conflict do nothing`);

export const updateUserGroup = (tx: Tx, group: Pick<UserGroupRow, 'id' | 'name' | 'description'>) =>
  tx.one<UserGroupRow>(sql`
    update user_groups g set name = ${group.name}, description = ${group.description}, updated_at = now()
    where g.id = ${group.id} returning ${COLUMNS}`);

/** For a change of what belongs to the group, such as its members. The caller has locked the group. */
export const noteGroupChange = (tx: Tx, id: number) =>
  tx.run(sql`update user_groups set updated_at = now() where id = ${id}`);

export const deleteUserGroup = (tx: Tx, id: number) => tx.run(sql`delete from user_groups where id = ${id}`);

export const listMembers = (db: Queryable, groupId: number, page: PageById) =>
  db.many<MemberRow>(sql`
    select u.id, u.username, u.shown_email as email, u.first_name as "firstName", u.picture
    from user_group_members m join users u on u.id = m.user_id
    where m.group_id = ${groupId} and m.user_id > ${page.afterId}
    order by m.user_id limit ${page.limit}`);

/** Returns the users who were not members before. */
export const insertMembers = async (tx: Tx, groupId: number, userIds: number[]) =>
  toIds(
    await tx.many<{ id: number }>(sql`
      insert into user_group_members (group_id, user_id)
      select ${groupId}, unnest(${userIds}::bigint[]) on conflict do nothing
      returning user_id as id`),
  );

/** Returns the users who were members before. */
export const deleteMembers = async (tx: Tx, groupId: number, userIds: number[]) =>
  toIds(
    await tx.many<{ id: number }>(sql`
      delete from user_group_members where group_id = ${groupId} and user_id = any(${userIds}::bigint[])
      returning user_id as id`),
  );

const toIds = (rows: { id: number }[]) => rows.map(({ id }) => id).sort((a, b) => a - b);
