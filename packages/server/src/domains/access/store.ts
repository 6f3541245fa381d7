/**
 * The one place that says, in SQL, who reaches which content. Every list filters with it and every single resource
 * is loaded with it.
 */
import type { Tx } from '../../platform/db/database.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { MANAGE, type Noun, type Viewer } from './rules.ts';

/** Folders, workbooks and reports, by the names that they have in every query. */
export type Alias = 'f' | 'w' | 'r';
const ALIAS: Record<Noun, Alias> = { Folder: 'f', Workbook: 'w', Report: 'r' };

/** Folders that go with all that lies in them. There are none most of the time, so that asking costs nothing. */
export const removedFolders = raw('select folder_id from removed_folders where not keeps_content');

/** Whether it is not being removed with a folder. */
export const isPresent = (alias: Alias): Sql =>
  ({
    f: sql`f.id not in (select folder_id from removed_folders)`,
    w: sql`coalesce(w.folder_id, 0) not in (${removedFolders})`,
    r: sql`coalesce(r.scope_folder_id, 0) not in (${removedFolders})`,
  })[alias];

/** What the content of an embed tenant belongs to. */
const contentKeyOf = (tenant: string): Sql => sql`(select content_key_of(${tenant}))`;

/** Whether it shows in lists of the embed tenant, or of the main workspace where there is none. */
export const inTenant = (alias: Alias, tenant: string | null): Sql =>
  tenant === null
    ? sql`${raw(alias)}.embed_tenant is null and ${isPresent(alias)}`
    : sql`${raw(alias)}.embed_tenant = ${contentKeyOf(tenant)} and ${isPresent(alias)}`;

const ofDeletedTenant = (row: Sql): Sql => sql`${row}.embed_tenant is not null
  and ${row}.embed_tenant in (select content_key from embed_tenants where deleted_at is not null)`;

/**
 * Whether it is only left because its removal has not come to it yet: its deployment, its embed tenant, or the folder
 * that it was in is deleted.
 */
export const isRemoved = (alias: Alias): Sql => sql`(
  not exists (select from deployments d where d.id = ${raw(alias)}.deployment_id)
  or not ${isPresent(alias)} or ${ofDeletedTenant(raw(alias))})`;

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
    lateral (select id from folders where ${isWithin({ id: raw('above.id'), path: raw('above.path') })}) below
  where below.id not in (select folder_id from removed_folders))`;

/** The level that policies on a folder or above it give the viewer on everything below. */
export const folderPolicyLevel = (viewer: Viewer, path: readonly number[]): Sql => sql`(
  select coalesce(max(p.level), 0) from resource_policies p
  where p.resource_type = 'Folder' and p.resource_id = any(${path}::bigint[]) and ${isMine(viewer)})`;

/** The viewer's level on the folder `f`. */
export const folderLevel = (viewer: Viewer): Sql =>
  levelOn(viewer, 'Folder', sql`p.resource_type = 'Folder' and p.resource_id = any(f.path)`);

/** The viewer's level on the workbook `w`, whose folder is `f` (or nothing). */
export const workbookLevel = (viewer: Viewer): Sql =>
  levelOn(
    viewer,
    'Workbook',
    sql`p.resource_type = 'Workbook' and p.resource_id = w.id
        or p.resource_type = 'Folder' and p.resource_id = any(f.path)`,
  );

/** The viewer's level on the report `r`, which policies reach through the folder `f` (or nothing). */
export const reportLevel = (viewer: Viewer): Sql =>
  levelOn(
    viewer,
    'Report',
    sql`p.resource_type = 'Report' and p.resource_id = r.id
        or p.resource_type = 'Workbook' and p.resource_id = r.workbook_id
        or p.resource_type = 'Folder' and p.resource_id = any(f.path)`,
  );

/**
 * Where it is being removed, or outside of the viewer's embed tenant, it is null instead of none: that is not even read
 * back after a change.
 */
function levelOn(viewer: Viewer, noun: Noun, reaches: Sql): Sql {
  const row = raw(ALIAS[noun]);
  const isThere =
    viewer.embedTenant === null
      ? sql`not (${ofDeletedTenant(row)})`
      : sql`${row}.embed_tenant = ${contentKeyOf(viewer.embedTenant)}`;
  return sql`case when ${isThere} and ${isPresent(ALIAS[noun])} then ${levelWithin(viewer, noun, row, reaches)} end`;
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

/**
 * Keeps the embed tenant in existence until the transaction ends, and answers what its content belongs to. Nothing where
 * it is gone, also where there is a new one with its name, which the user is not of.
 */
export const lockTenant = async (tx: Tx, name: string, userId: number) =>
  (
    await tx.maybeOne<{ contentKey: string }>(sql`
      select content_key as "contentKey" from embed_tenants t
      where name = ${name} and not exists (select from users u where u.id = ${userId} and u.embed_tenant <> t.name)
      for key share`)
  )?.contentKey;

/** Who owns something, as JSON, from the row of users with this alias. */
export const ownerOf = (alias: string): Sql => {
  const user = raw(alias);
  return sql`json_build_object('id', ${user}.id, 'email', ${user}.shown_email, 'firstName', ${user}.first_name, 'picture', ${user}.picture)`;
};
