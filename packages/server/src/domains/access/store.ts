/**
 * The SQL that decides which content a viewer reaches. It stands only here: every list filters with it, and every single
 * resource is loaded with it.
 */
import type { EmbedSession } from '../../platform/auth/actor.ts';
import type { Tx } from '../../platform/db/database.ts';
import { join, raw, type Sql, sql } from '../../platform/db/sql.ts';
import { MANAGE, type Noun, READ, type Viewer } from './rules.ts';

/** The names that folders, workbooks and reports have in every query. */
export type Alias = 'f' | 'w' | 'r';
const ALIAS: Record<Noun, Alias> = { Folder: 'f', Workbook: 'w', Report: 'r' };

/** Folders that are being removed with all of their content. Usually there are none, so this query costs almost nothing. */
export const removedFolders = raw('select folder_id from removed_folders where not keeps_content');

/** True unless the row is being removed together with a folder. */
export const isPresent = (alias: Alias): Sql =>
  ({
    f: sql`f.id not in (select folder_id from removed_folders)`,
    w: sql`coalesce(w.folder_id, 0) not in (${removedFolders})`,
    r: sql`coalesce(r.scope_folder_id, 0) not in (${removedFolders})`,
  })[alias];

/** The content key of the embed tenant with this name. */
const contentKeyOf = (tenant: string): Sql => sql`(select content_key_of(${tenant}))`;

/** Whether the row belongs to the embed tenant with this content key, or to the main workspace if the key is null. */
export const belongsTo = (alias: Alias, contentKey: string | null): Sql =>
  contentKey === null
    ? sql`${raw(alias)}.embed_tenant is null`
    : sql`${raw(alias)}.embed_tenant = ${contentKey}`;

/** Whether the row belongs to the embed tenant with this name, or to the main workspace if the name is null. */
export const isOfTenant = (alias: Alias, tenant: string | null): Sql =>
  tenant === null
    ? sql`${raw(alias)}.embed_tenant is null`
    : sql`${raw(alias)}.embed_tenant = ${contentKeyOf(tenant)}`;

/** Whether the row shows in lists of the embed tenant with this name, or of the main workspace if the name is null. */
export const inTenant = (alias: Alias, tenant: string | null): Sql =>
  sql`${isOfTenant(alias, tenant)} and ${isPresent(alias)}`;

const ofDeletedTenant = (row: Sql): Sql => sql`${row}.embed_tenant is not null
  and ${row}.embed_tenant in (select content_key from embed_tenants where deleted_at is not null)`;

/**
 * Whether the deployment, the embed tenant or the folder of the row is deleted. The removal will come to this row later.
 */
export const isRemoved = (alias: Alias): Sql => sql`(
  not exists (select from deployments d where d.id = ${raw(alias)}.deployment_id)
  or not ${isPresent(alias)} or ${ofDeletedTenant(raw(alias))})`;

/** Whether the owner of the row is a user of a deleted embed tenant, which got this hidden name when it was deleted. */
export const isOfUsersIn = (hiddenName: string): Sql =>
  sql`user_id in (select id from users where embed_tenant = ${hiddenName})`;

/** Content is shared with those members `m` of a group of an embed tenant that sessions name in `tenantGroups`. */
const IS_SHARED_WITH = sql`(
  m.in_tenant_groups or exists (select from user_groups g where g.id = m.group_id and g.embed_tenant is null))`;

/** Whether the policy `p` was given to the viewer, to one of their groups, or to one of their roles. */
const isMine = ({ userId, embedTenant }: Viewer): Sql => sql`(
  p.user_id = ${userId}
  or p.group_id in (select group_id from user_group_members m where user_id = ${userId} and ${embedTenant === null ? sql`true` : IS_SHARED_WITH})
  or p.role_id in (select role_id from user_roles where user_id = ${userId}))`;

/**
 * The ids of the resources of a kind that have a policy for the viewer. The id of the viewer is hidden from the planner,
 * because otherwise it would make a new plan each time for viewers with few policies.
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

/** A range, because the planner expects few rows in a range. With `=` it would expect all rows if one user owns them all. */
const isOwn = ({ userId }: Viewer, row: Sql): Sql => sql`${row}.user_id between ${userId} and ${userId}`;

/**
 * The ids of the folders or workbooks that lead the viewer to everything in them: those with a policy for the viewer, and
 * those that the viewer owns.
 */
export const heldIds = (viewer: Viewer, noun: 'Folder' | 'Workbook'): Sql => {
  const { table, row } = KINDS[noun];
  return sql`
    ${grantedIds(viewer, noun)}
    union all
    select ${row}.id from ${table} ${row} where ${isOwn(viewer, row)}
      and ${row}.deployment_id = ${viewer.deploymentId} and ${isPresent(ALIAS[noun])}`;
};

/** Whether a folder is this one or lies below it. The paths that begin with the path of this folder are a range. */
export const isWithin = ({ id, path }: { id: Sql; path: Sql }): Sql =>
  sql`path >= ${path} and path < (${path})[:cardinality(${path}) - 1] || (${id} + 1)`;

/**
 * The ids of the folders that the viewer reaches, each once: folders with a policy, their own, and all folders below
 * these. Only the topmost of them list what is below, because otherwise a folder would occur once for each one above it.
 * The check of the parent, which is cheap, already excludes most of the others. `is true` makes the planner hash the held
 * ids. The result is an array, because the planner expects far too many rows and would not keep so many in memory.
 */
export const reachedFolders = (viewer: Viewer): Sql => sql`array(
  with held as materialized (
    select f.id, f.parent_id, f.path from (select distinct resource_id from (${heldIds(viewer, 'Folder')}) g) ids
    join folders f on f.id = ids.resource_id)
  select below.id from held above,
    lateral (select id from folders where ${isWithin({ id: raw('above.id'), path: raw('above.path') })}) below
  where (above.parent_id in (select id from held)) is not true
    and not exists (select from unnest(above.path[:cardinality(above.path) - 1]) up
                    where (up in (select id from held)) is true)
    and below.id not in (select folder_id from removed_folders))`;

interface Kind {
  table: Sql;
  /** The name of the row in conditions. */
  row: Sql;
  /** The column with the folder that the row lies in. */
  folder: Sql;
  atRoot: Sql;
}

const KINDS: Record<Noun, Kind> = {
  Folder: {
    table: raw('folders'),
    row: raw('f'),
    folder: raw('f.parent_id'),
    atRoot: raw('f.parent_id is null'),
  },
  Workbook: {
    table: raw('workbooks'),
    row: raw('w'),
    folder: raw('w.folder_id'),
    atRoot: raw('w.folder_id is null'),
  },
  Report: {
    table: raw('reports'),
    row: raw('r'),
    folder: raw('r.folder_id'),
    atRoot: raw('r.folder_id is null and r.workbook_id is null'),
  },
};

/** The place whose content a list shows: a folder, null for the root, undefined for everything. */
export type ListedPlace = number | null | undefined;

/**
 * Whether the row lies in the place. The content of a folder is in the deployment of the folder. A second condition on
 * the deployment would make the planner expect too few rows and read the whole deployment.
 */
export function isIn({ deploymentId }: Viewer, noun: Noun, place: ListedPlace): Sql {
  const { row, folder, atRoot } = KINDS[noun];
  if (typeof place === 'number')
    return sql`${folder} = (select id from folders where id = ${place} and deployment_id = ${deploymentId})`;
  const inDeployment = sql`${row}.deployment_id = ${deploymentId}`;
  return place === null ? sql`${inDeployment} and ${atRoot}` : inDeployment;
}

/**
 * The rows that the viewer reaches in a place, found without reading other rows. `rows` selects at most one page from a
 * table, in the order of the list; the results of all calls are united. A viewer without a level on every row reaches
 * what they own, what was shared with them, and the content of folders and workbooks that they own or that were shared
 * with them.
 * `offset 0` keeps the planner from reading the whole table in the order of the list.
 */
export function fromReach(
  viewer: Viewer,
  noun: Noun,
  place: ListedPlace,
  visible: Sql,
  rows: (from: Sql, condition: Sql) => Sql,
): Sql {
  const { table, row } = KINDS[noun];
  const here = isIn(viewer, noun, place);
  const all = sql`${table} ${row}`;
  if (viewer.levels[noun] >= READ) return rows(all, here);
  // This reads only the content of the folder.
  if (typeof place === 'number') return rows(all, sql`${here} and ${visible}`);
  const own = sql`(select * from ${all} where ${isOwn(viewer, row)} and ${here} offset 0) ${row}`;
  const granted = sql`${row}.id = any(array(${grantedIds(viewer, noun)})) and ${here}`;
  const branches = [rows(own, sql`true`), rows(all, granted)];
  if (place === undefined) branches.push(...below(viewer, noun, rows));
  return join(branches, ' union ');
}

/** The content of folders and workbooks that the viewer owns or that were shared with them. */
function below(viewer: Viewer, noun: Noun, rows: (from: Sql, condition: Sql) => Sql): Sql[] {
  const { table, row } = KINDS[noun];
  const all = sql`${table} ${row}`;
  if (noun === 'Folder') return [rows(all, sql`f.id = any(${reachedFolders(viewer)})`)];
  const each = (ids: Sql, column: string) => sql`
    (select b.* from unnest(${ids}) place (id), lateral (select * from ${rows(all, sql`${raw(column)} = place.id`)} b offset 0) b)`;
  if (noun === 'Workbook') return [each(reachedFolders(viewer), 'w.folder_id')];
  return [
    each(reachedFolders(viewer), 'r.scope_folder_id'),
    each(sql`array(${heldIds(viewer, 'Workbook')})`, 'r.workbook_id'),
  ];
}

/** The viewer's level on the folder `f`. */
export const folderLevel = (viewer: Viewer): Sql =>
  levelOn(viewer, 'Folder', sql`p.resource_type = 'Folder' and p.resource_id = any(f.path)`, [
    ownsFolder(viewer),
  ]);

/** The viewer's level on the workbook `w`, whose folder is `f` (nulls if it has none). */
export const workbookLevel = (viewer: Viewer): Sql =>
  levelOn(
    viewer,
    'Workbook',
    sql`p.resource_type = 'Workbook' and p.resource_id = w.id
        or p.resource_type = 'Folder' and p.resource_id = any(f.path)`,
    [ownsFolder(viewer)],
  );

/**
 * The viewer's level on the dashboard `d` of the workbook `w`, whose folder is `f`. A policy that reaches the workbook
 * also reaches its dashboard.
 */
export const dashboardLevel = (viewer: Viewer): Sql =>
  levelOn(
    viewer,
    'Workbook',
    sql`p.resource_type = 'Dashboard' and p.resource_id = d.id
        or p.resource_type = 'Workbook' and p.resource_id = w.id
        or p.resource_type = 'Folder' and p.resource_id = any(f.path)`,
    [ownsFolder(viewer)],
  );

/**
 * Whether viewers in the embed tenant see the dashboard `d` of the workbook `w`. It must allow embedding. The entry of the
 * embed tenant decides. Without one, the setting for all embed tenants decides or, for a dashboard that belongs to the
 * embed tenant itself, nothing else is needed.
 */
const isEmbeddedIn = (tenant: string): Sql => sql`(
  d.allow_embed and ${isPresent('w')} and (w.embed_tenant is null or w.embed_tenant = ${contentKeyOf(tenant)})
  and coalesce(
    (select e.action from dashboard_embed_access e where e.dashboard_id = d.id and e.embed_tenant = ${tenant}),
    case when w.embed_tenant is null then d.all_embed_users else 'read' end) = 'read')`;

/** Whether the dashboard `d` has a version that viewers see. */
export const isPublished: Sql = sql`(d.version_number > 0 and d.unpublished_at is null)`;

/**
 * Whether the viewer sees the published dashboard `d` of the workbook `w`, whose folder is `f`. People need a level on it.
 * Viewers with an embed token see what is embedded for them and, of the content of their embed tenant, what was shared with
 * them or is theirs. Creators manage all content of their embed tenant.
 */
export function seesDashboard(viewer: Viewer, embed: EmbedSession | null): Sql {
  const byLevel = sql`coalesce(${dashboardLevel(viewer)} >= ${READ}, false)`;
  const sees = embed === null ? byLevel : sql`(${byLevel} or ${isEmbeddedIn(embed.embedTenant)})`;
  return sql`(${isPublished} and ${sees})`;
}

/** The viewer's level on the report `r`, which policies reach through the folder `f` (nulls if there is none). */
export const reportLevel = (viewer: Viewer): Sql =>
  levelOn(
    viewer,
    'Report',
    sql`p.resource_type = 'Report' and p.resource_id = r.id
        or p.resource_type = 'Workbook' and p.resource_id = r.workbook_id
        or p.resource_type = 'Folder' and p.resource_id = any(f.path)`,
    [
      sql`exists (select from workbooks above where above.id = r.workbook_id and above.user_id = ${viewer.userId})`,
      ownsFolder(viewer),
    ],
  );

/** Whether the viewer owns the folder `f`, or a folder above it. A folder that is being removed gives its owner nothing. */
const ownsFolder = ({ userId }: Viewer): Sql => sql`exists (
  select from folders above where above.id = any(f.path) and above.user_id = ${userId}
    and above.id not in (select folder_id from removed_folders))`;

/**
 * The level is null, not `NONE`, if the row is being removed or is outside of the viewer's embed tenant. With a null
 * level, the row is not even read back after a change.
 */
function levelOn(viewer: Viewer, noun: Noun, reaches: Sql, owns: Sql[]): Sql {
  const row = raw(ALIAS[noun]);
  const isThere =
    viewer.embedTenant === null
      ? sql`not (${ofDeletedTenant(row)})`
      : sql`${row}.embed_tenant = ${contentKeyOf(viewer.embedTenant)}`;
  return sql`case when ${isThere} and ${isPresent(ALIAS[noun])} then ${levelWithin(viewer, noun, row, reaches, owns)} end`;
}

/** Differs for each SQL text that a level can have. Names of prepared statements contain it. */
export const levelShape = (viewer: Viewer, noun: Noun) =>
  `${viewer.levels[noun] === MANAGE ? 'all' : 'some'}-${viewer.embedTenant === null ? 'anywhere' : 'confined'}`;

/** `reaches` says which policies `p` reach the row, `owns` whether the viewer owns something that contains it. */
function levelWithin(viewer: Viewer, noun: Noun, row: Sql, reaches: Sql, owns: Sql[]): Sql {
  if (viewer.levels[noun] === MANAGE) return sql`${MANAGE}::int`;
  return sql`greatest(
    ${viewer.levels[noun]}::int,
    case when ${join([sql`${row}.user_id = ${viewer.userId}`, ...owns], ' or ')} then ${MANAGE}::int else 0 end,
    (select max(p.level) from resource_policies p where (${reaches}) and ${isMine(viewer)}))`;
}

/**
 * Keeps the embed tenant until the transaction ends, and returns its content key. Returns nothing if the tenant is gone,
 * even if there is a new tenant with the same name, because the user does not belong to that one.
 */
export const keepTenant = async (tx: Tx, name: string, userId: number) =>
  (
    await tx.maybeOne<{ contentKey: string }>(sql`
      select content_key as "contentKey" from embed_tenants t
      where name = ${name} and not exists (select from users u where u.id = ${userId} and u.embed_tenant <> t.name)
      for key share`)
  )?.contentKey;

/** The error if a trigger refuses new content of an embed tenant (functions.sql of embed-tenants). */
export const CONTENT_REFUSALS = { embed_content_limit: 'embed_content_limit_reached' } as const;

/** The owner of something as JSON, from the row of `users` with this alias. */
export const ownerOf = (alias: string): Sql => {
  const user = raw(alias);
  return sql`json_build_object('id', ${user}.id, 'email', ${user}.shown_email, 'firstName', ${user}.first_name, 'picture', ${user}.picture)`;
};
