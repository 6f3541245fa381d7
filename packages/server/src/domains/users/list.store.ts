/**
 * Pages of people, in the order of their ids, for accounts of any size. `scanStretch` reads a limited part of an index in
 * this order, which fills the page unless few of these rows match. `findAll` then finds all rows that match, by the
 * index that is best for it, and sorts them. So neither a rare nor a common filter reads the whole table row by row.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { containing, join, literal, raw, type Sql, sql } from '../../platform/db/sql.ts';
import { PAGE_BYTES_MAX, type PageById } from '../../platform/http/pages.ts';
import { isPerson, LISTED, type ListedUser, ROLES } from './store.ts';

export interface PeopleFilter {
  /** A part of the name, username or email. */
  search: string | null;
  isDeactivated: boolean | null;
  /** The name of a role. */
  role: string | null;
  groupId: number | null;
}

/** `found` is null if the person does not fit into the page. */
export interface PersonPosition {
  id: number;
  found: ListedUser | null;
}

/** How many rows `scanStretch` reads beyond the page. */
const STRETCH = 1000;

/** The expression of the index `users_search`. A separator stands between the texts, so that no search matches across. */
const SEARCHED = raw(
  `lower(u.username || chr(1) || coalesce(u.email, '') || chr(1) || coalesce(u.first_name, ''))`,
);

/** A filter with the id of its role. The planner knows how many people have a role only if it knows the id. */
type Filter = Omit<PeopleFilter, 'role'> & { roleId: number | null };

/** Returns one row more than the page holds, if there are as many. */
export async function listPeople(
  db: Queryable,
  { role, ...others }: PeopleFilter,
  page: PageById,
): Promise<PersonPosition[]> {
  const roleId = role === null ? null : await findRoleId(db, role);
  if (roleId === undefined) return [];
  const filter = { ...others, roleId };
  const found = await readPeople(db, scanStretch(filter, page));
  const isWhole = found.length === page.limit || !(await goesOn(db, filter, page));
  return isWhole ? found : readPeople(db, findAll(filter, page));
}

const findRoleId = async (db: Queryable, name: string) =>
  (await db.maybeOne<{ id: number }>(sql`select id from roles where name = ${name}`))?.id;

/** Whether there are rows behind the ones that `scanStretch` read. */
const goesOn = async (db: Queryable, filter: Filter, page: PageById) =>
  (await db.run(
    sql`${firstIds(filter, { ...page, limit: page.limit + 1 })} offset ${page.limit + STRETCH}`,
  )) > 0;

/** The text is part of an expression, so that the planner does not use the trigram index, which would not help here. */
const scanStretch = (filter: Filter, page: PageById): Sql => sql`
  select u.id from (${firstIds(filter, page)}) s join users u on u.id = s.id
  where ${matches(filter, sql`(${SEARCHED} || '')`)}
  order by s.id limit ${literal(page.limit)}`;

/** The first ids after the cursor that one of the filters allows. */
function firstIds({ isDeactivated, roleId, groupId }: Filter, { afterId, limit }: PageById): Sql {
  const most = literal(limit + STRETCH);
  if (groupId !== null) {
    return sql`select m.user_id as id from user_group_members m where m.group_id = ${groupId} and m.user_id > ${afterId}
               order by m.user_id limit ${most}`;
  }
  if (roleId !== null) {
    return sql`select ur.user_id as id from user_roles ur where ur.role_id = ${roleId} and ur.user_id > ${afterId}
               order by ur.user_id limit ${most}`;
  }
  const inState = isDeactivated === null ? sql`true` : sql`u.is_deactivated = ${isDeactivated}`;
  return sql`select u.id from users u where ${isPerson} and ${inState} and u.id > ${afterId} order by u.id limit ${most}`;
}

/** The rows are found before they are sorted, because the planner would read them in order if it knew the limit. */
const findAll = (filter: Filter, { afterId, limit }: PageById): Sql => sql`
  with matching as materialized (select u.id from users u where ${matches(filter, SEARCHED)} and u.id > ${afterId})
  select id from matching order by id limit ${literal(limit)}`;

function matches({ search, isDeactivated, roleId, groupId }: Filter, searched: Sql): Sql {
  const conditions = [isPerson];
  if (isDeactivated !== null) conditions.push(sql`u.is_deactivated = ${isDeactivated}`);
  if (search !== null) conditions.push(sql`${searched} like lower(${containing(search)})`);
  if (roleId !== null) {
    conditions.push(
      sql`exists (select from user_roles ur where ur.user_id = u.id and ur.role_id = ${roleId})`,
    );
  }
  if (groupId !== null) {
    conditions.push(
      sql`exists (select from user_group_members m where m.user_id = u.id and m.group_id = ${groupId})`,
    );
  }
  return join(conditions, ' and ');
}

/** `offset 0` makes the database write the JSON of each person once. */
const readPeople = (db: Queryable, ids: Sql) =>
  db.many<PersonPosition>(sql`
    select id, case when bytes_before < ${literal(PAGE_BYTES_MAX)} then found end as found
    from (
      select id, found, coalesce(sum(octet_length(found::text)) over before, 0) as bytes_before
      from (
        select listed.id, row_to_json(listed) as found
        from (select ${LISTED} from (${ids}) page join users u on u.id = page.id, ${ROLES}) listed
        offset 0) shown
      window before as (order by id rows between unbounded preceding and 1 preceding)) counted
    order by id`);
