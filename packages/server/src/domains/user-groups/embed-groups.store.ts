/** The groups of embed tenants. */
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';
import { EMBED_USER_COLUMNS, type EmbedUserRow } from '../embed-tenants/index.ts';

export interface GroupRow {
  id: number;
  name: string;
  description: string | null;
  userCount: number;
}

const COLUMNS = sql`
  g.id, g.name, g.description,
  (select count(*) from user_group_members m where m.group_id = g.id) as "userCount"`;

const inCatalogue = (tenant: string): Sql => sql`coalesce(g.embed_tenant, '') = ${tenant}`;

export const listGroups = (db: Queryable, tenant: string, page: PageById) =>
  db.many<GroupRow>(sql`
    select ${COLUMNS} from user_groups g
    where ${inCatalogue(tenant)} and g.id > ${page.afterId} order by g.id limit ${page.limit}`);

export const findGroup = (db: Queryable, tenant: string, id: number) =>
  db.maybeOne<GroupRow>(
    sql`select ${COLUMNS} from user_groups g where g.id = ${id} and ${inCatalogue(tenant)}`,
  );

export const insertGroup = (tx: Tx, tenant: string, group: Pick<GroupRow, 'name' | 'description'>) =>
  tx.one<GroupRow>(sql`
    insert into user_groups as g (embed_tenant, name, description)
    values (${tenant}, ${group.name}, ${group.description}) returning ${COLUMNS}`);

export const updateGroup = (tx: Tx, group: Pick<GroupRow, 'id' | 'description'>) =>
  tx.one<GroupRow>(sql`
    update user_groups g set description = ${group.description}, updated_at = now() where g.id = ${group.id} returning ${COLUMNS}`);

export const deleteGroup = (tx: Tx, id: number) => tx.run(sql`delete from user_groups where id = ${id}`);

export const listMembers = (db: Queryable, groupId: number, page: PageById) =>
  db.many<EmbedUserRow>(sql`
    select ${EMBED_USER_COLUMNS} from user_group_members m join users u on u.id = m.user_id
    where m.group_id = ${groupId} and m.user_id > ${page.afterId}
    order by m.user_id limit ${page.limit}`);

/**
 * Returns those of the named users that are in the tenant. Nobody else can change their memberships until the
 * transaction ends, because minting a session, which replaces them, takes the same lock.
 */
export const lockUsers = (tx: Tx, tenant: string, named: { ids: number[]; externalIds: string[] }) =>
  tx.many<EmbedUserRow>(sql`
    select ${EMBED_USER_COLUMNS} from users u
    where u.embed_tenant = ${tenant}
      and (u.id = any(${named.ids}::bigint[]) or u.external_id = any(${named.externalIds}::text[]))
    order by u.id for no key update`);

/** Creates users of the tenant with these external ids, as minting does. The id is null if the limit is reached. */
export const insertUsers = (tx: Tx, tenant: string, externalIds: string[], maxExternalUsers: number) =>
  tx.many<{ id: number | null }>(sql`
    select made.viewer_id as id from unnest(${externalIds}::text[]) as given (external_id),
      lateral ensure_external_user(${tenant}, jsonb_build_object('externalId', given.external_id),
                                   ${maxExternalUsers}, '[]') as made`);

/** Adds both kinds of membership. Returns the users for whom something has changed. */
export const insertMembers = async (tx: Tx, groupId: number, users: { id: number }[]) =>
  toIds(
    await tx.many<{ id: number }>(sql`
      insert into user_group_members as m (group_id, user_id, in_groups, in_tenant_groups)
      select ${groupId}, unnest(${toIds(users)}::bigint[]), true, true
      on conflict (group_id, user_id) do update set in_groups = true, in_tenant_groups = true
      where not (m.in_groups and m.in_tenant_groups)
      returning user_id as id`),
  );

/** Removes both kinds of membership. Returns the users who had one. */
export const deleteMembers = async (tx: Tx, groupId: number, users: { id: number }[]) =>
  toIds(
    await tx.many<{ id: number }>(sql`
      delete from user_group_members where group_id = ${groupId} and user_id = any(${toIds(users)}::bigint[])
      returning user_id as id`),
  );

const toIds = (rows: { id: number }[]) => rows.map(({ id }) => id).sort((a, b) => a - b);
