/**
 * The one place that says, in SQL, who reaches which content. Every list filters with it and every single resource
 * is loaded with it.
 */
import type { Tx } from '../../platform/db/database.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { MANAGE, type Noun, type Viewer } from './rules.ts';

/** Conditions on a policy `p`: given to the viewer, to a group of theirs, or to a role of theirs. */
const isMine = ({ userId }: Viewer): Sql => sql`(
  p.user_id = ${userId}
  or p.group_id in (select group_id from user_group_members where user_id = ${userId})
  or p.role_id in (select role_id from user_roles where user_id = ${userId}))`;

/**
 * The ids of the resources of a kind on which the viewer was given something. The planner does not get to see who that
 * is: for who was given little it would plan anew each time.
 */
export const grantedIds = ({ userId, deploymentId }: Viewer, noun: Noun): Sql => {
  const me = sql`(select ${userId}::bigint)`;
  const of = sql`deployment_id = ${deploymentId} and resource_type = ${raw(`'${noun}'`)}`;
  return sql`
    select resource_id from resource_policies where user_id = ${me} and ${of}
    union all
    select p.resource_id from user_group_members m join resource_policies p on p.group_id = m.group_id
    where m.user_id = ${me} and ${of}
    union all
    select p.resource_id from user_roles ur join resource_policies p on p.role_id = ur.role_id
    where ur.user_id = ${me} and ${of}`;
};

/** Whether a folder is this one or below it: the paths that begin with its own are a range. */
export const isWithin = ({ id, path }: { id: Sql; path: Sql }): Sql =>
  sql`path >= ${path} and path < (${path})[:cardinality(${path}) - 1] || (${id} + 1)`;

/**
 * The ids of the folders that policies reach: those with one, and all below them. Some may come more than once. As an
 * array, because the planner expects far too many, and would not keep as many rows in memory.
 */
export const reachedFolders = (viewer: Viewer): Sql => sql`array(
  select below.id from (select distinct resource_id from (${grantedIds(viewer, 'Folder')}) g) granted
  join folders above on above.id = granted.resource_id,
    lateral (select id from folders where ${isWithin({ id: raw('above.id'), path: raw('above.path') })}) below)`;

/** The viewer's level on the folder `f`. */
export const folderLevel = (viewer: Viewer): Sql =>
  levelOn(viewer, 'Folder', raw('f'), sql`p.resource_type = 'Folder' and p.resource_id = any(f.path)`);

/** The viewer's level on the workbook `w`, whose folder is `f` (or nothing). */
export const workbookLevel = (viewer: Viewer): Sql =>
  levelOn(
    viewer,
    'Workbook',
    raw('w'),
    sql`p.resource_type = 'Workbook' and p.resource_id = w.id
        or p.resource_type = 'Folder' and p.resource_id = any(f.path)`,
  );

/** The viewer's level on the report `r`, which policies reach through the folder `f` (or nothing). */
export const reportLevel = (viewer: Viewer): Sql =>
  levelOn(
    viewer,
    'Report',
    raw('r'),
    sql`p.resource_type = 'Report' and p.resource_id = r.id
        or p.resource_type = 'Workbook' and p.resource_id = r.workbook_id
        or p.resource_type = 'Folder' and p.resource_id = any(f.path)`,
  );

/** Outside of the viewer's embed tenant it is null instead of none: that is not even read back after a change. */
function levelOn(viewer: Viewer, noun: Noun, row: Sql, reaches: Sql): Sql {
  const level = levelWithin(viewer, noun, row, reaches);
  if (viewer.embedTenant === null) return level;
  return sql`case when ${row}.embed_tenant = ${viewer.embedTenant} then ${level} end`;
}

/** Tells apart the texts that a level can have, for the names of prepared statements. */
export const levelShape = (viewer: Viewer, noun: Noun) =>
  `${viewer.levels[noun] === MANAGE ? 'all' : 'some'}-${viewer.embedTenant === null ? 'anywhere' : 'confined'}`;

function levelWithin(viewer: Viewer, noun: Noun, row: Sql, reaches: Sql): Sql {
  if (viewer.levels[noun] === MANAGE) return sql`${MANAGE}::int`;
  return sql`greatest(
    ${viewer.levels[noun]}::int,
    case when ${row}.user_id = ${viewer.userId} then ${MANAGE}::int else 0 end,
    (select max(p.level) from resource_policies p where (${reaches}) and ${isMine(viewer)}))`;
}

/** Keeps the embed tenant in existence until the transaction ends. False where it is gone. */
export const lockTenant = async (tx: Tx, name: string) =>
  (await tx.run(sql`select from embed_tenants where name = ${name} for key share`)) === 1;

/** Who owns something, as JSON, from the row of users with this alias. */
export const ownerOf = (alias: string): Sql => {
  const user = raw(alias);
  return sql`json_build_object('id', ${user}.id, 'email', ${user}.shown_email, 'firstName', ${user}.first_name, 'picture', ${user}.picture)`;
};
