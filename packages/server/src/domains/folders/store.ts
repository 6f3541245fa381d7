import type { Queryable, Tx } from '../../platform/db/database.ts';
import { jsonFields, jsonList, jsonPlain, jsonString } from '../../platform/db/json-text.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { literal, type Sql, sql } from '../../platform/db/sql.ts';
import {
  belongsTo,
  CONTENT_REFUSALS,
  folderLevel,
  fromReach,
  inTenant,
  isWithin,
  type Level,
  READ,
  reachedFolders,
  type Viewer,
} from '../access/index.ts';
import { nameKey } from './rules.ts';

export interface FolderRow {
  id: number;
  deploymentId: number;
  name: string;
  type: 'FOLDER';
  parentId: number | null;
  position: number;
  folderPath: { id: number; name: string }[];
  createdBy: number;
  updatedBy: number | null;
  createdAt: string;
  updatedAt: string;
}

/** A folder with its place in the tree and the level of the viewer. */
export interface FolderAccessRow extends FolderRow {
  path: number[];
  embedTenant: string | null;
  level: Level;
}

/** The JSON text of a path as callers see it, from `folders.shown_path`. A null path becomes an empty list. */
export const pathText = jsonList;

/** The entry of a folder in its own shown path and in those of the folders below it. */
const pathEntry = (id: Sql, name: string): Sql =>
  sql`concat('{', ${jsonFields({ id: jsonPlain(id), name: jsonString(sql`${name}::text`) })}, '}')`;

/** The columns of the folder `f`. Its `folderPath` ends with the folder that contains it. */
const COLUMNS = sql`
  f.id, f.deployment_id as "deploymentId", f.name, 'FOLDER' as type, f.parent_id as "parentId", f.position,
  ${pathText(sql`f.shown_path[:cardinality(f.path) - 1]`)}::json as "folderPath",
  coalesce(f.created_by, f.user_id) as "createdBy", f.updated_by as "updatedBy", f.created_at as "createdAt", f.updated_at as "updatedAt"`;

/** The folders that the viewer reaches: all by role, or otherwise their own, those that policies reach, and those below. */
export const visibleFolders = (viewer: Viewer): Sql =>
  viewer.levels.Folder >= READ ? sql`true` : sql`f.id in (select unnest(${reachedFolders(viewer)}))`;

export interface FolderFilter {
  /** Null for the root. */
  parentId: number | null;
  /** Whether the list also holds the folders on all levels below. */
  recursive: boolean;
  embedTenant: string | null;
}

/** `select` returns a query for the folders `f` of a table that meet a condition. */
function reached(
  viewer: Viewer,
  { parentId, recursive, embedTenant }: FolderFilter,
  select: (from: Sql, condition: Sql) => Sql,
): Sql {
  const place = recursive ? undefined : parentId;
  const visible = visibleFolders(viewer);
  return fromReach(viewer, 'Folder', place, visible, (from, condition) =>
    select(
      recursive && parentId !== null ? foldersBelow(viewer, parentId) : from,
      sql`${condition} and ${inTenant('f', embedTenant)}`,
    ),
  );
}

/** `offset 0` keeps the planner from reading the whole deployment. */
const foldersBelow = ({ deploymentId }: Viewer, id: number): Sql => {
  const path = sql`(select path from folders where id = ${id} and deployment_id = ${deploymentId})`;
  return sql`(select * from folders where ${isWithin({ id: sql`${id}::bigint`, path })} and id <> ${id} offset 0) f`;
};

export const listFolders = (
  db: Queryable,
  viewer: Viewer,
  filter: FolderFilter,
  { after, limit }: { after: [position: number, id: number] | null; limit: number },
) => {
  const behind = after ? sql`(f.position, f.id) > (${after[0]}::int, ${after[1]}::bigint)` : sql`true`;
  const page = reached(
    viewer,
    filter,
    (from, condition) => sql`
      (select f.id, f.position from ${from} where ${condition} and ${behind}
       order by f.position, f.id limit ${literal(limit)})`,
  );
  return db.many<FolderRow>(sql`
    select ${COLUMNS}
    from (select id from (${page}) reached order by position, id limit ${literal(limit)}) page join folders f on f.id = page.id
    order by f.position, f.id`);
};

export const countFolders = async (db: Queryable, viewer: Viewer, filter: FolderFilter) => {
  const all = reached(
    viewer,
    filter,
    (from, condition) => sql`(select f.id from ${from} where ${condition})`,
  );
  return (await db.one<{ count: number }>(sql`select count(*) from (${all}) reached`)).count;
};

/** The folders with these ids on which the viewer has at least this level, in no particular order. */
export const findFolders = (db: Queryable, viewer: Viewer, ids: readonly number[], least: Level = READ) =>
  db.many<FolderAccessRow>(sql`
    select * from (
      select ${COLUMNS}, to_json(f.path) as path, f.embed_tenant as "embedTenant", ${folderLevel(viewer)} as level
      from folders f where f.id = any(${ids}::bigint[]) and f.deployment_id = ${viewer.deploymentId} offset 0) f
    where level >= ${least}`);

/** Locks the folders with these ids: no other transaction can move or delete them until this one ends. */
export const lockFolders = (tx: Tx, ids: readonly number[]) =>
  tx.run(sql`select from folders where id = any(${ids}::bigint[]) order by id for share`);

/** Whether `f` lies beside the folder. At the root, folders of other tenants do not count: that would reveal them. */
const isSibling = (folder: {
  deploymentId: number;
  parent: { id: number } | null;
  embedTenant: string | null;
}): Sql =>
  folder.parent
    ? sql`f.parent_id = ${folder.parent.id}`
    : sql`f.deployment_id = ${folder.deploymentId} and f.parent_id is null and ${belongsTo('f', folder.embedTenant)}`;

const shownPathOf = (folder: { id: number } | null): Sql =>
  folder ? sql`(select shown_path from folders where id = ${folder.id})` : sql`'{}'::text[]`;

export const insertFolder = async (
  tx: Tx,
  folder: {
    deploymentId: number;
    parent: { id: number; path: number[] } | null;
    name: string;
    position: number | null;
    embedTenant: string | null;
    userId: number;
  },
) => {
  const { id } = await tx
    .one<{ id: number }>(sql`
    with fresh as (select nextval(pg_get_serial_sequence('folders', 'id')) as id)
    insert into folders (id, deployment_id, parent_id, path, shown_path, name, name_key, position, embed_tenant, user_id, created_by)
    overriding system value
    select fresh.id, ${folder.deploymentId}, ${folder.parent?.id ?? null}, ${folder.parent?.path ?? []}::bigint[] || fresh.id,
           ${shownPathOf(folder.parent)} || ${pathEntry(sql`fresh.id`, folder.name)}, ${folder.name}, ${nameKey(folder.name)},
           coalesce(${folder.position}::int, (
             select least(coalesce(max(f.position), -1), 2147483646) + 1 from folders f
             where ${isSibling(folder)})),
           ${folder.embedTenant}, ${folder.userId}, ${folder.userId}
    from fresh returning id`)
    .catch(refusing(CONTENT_REFUSALS));
  return id;
};

export const updateFolder = (tx: Tx, folder: { id: number; position: number | null; updatedBy: number }) =>
  tx.run(sql`
    update folders set position = coalesce(${folder.position}, position), updated_by = ${folder.updatedBy}, updated_at = now()
    where id = ${folder.id}`);

export const isBelow = ({ id, path }: { id: number; path: number[] }): Sql =>
  isWithin({ id: sql`${id}::bigint`, path: sql`${path}::bigint[]` });

/** Also writes the new name into the paths of all folders below. */
export const renameFolder = (tx: Tx, folder: { id: number; path: number[] }, name: string) =>
  tx.run(sql`
    update folders set
      name = case when id = ${folder.id} then ${name} else name end,
      name_key = case when id = ${folder.id} then ${nameKey(name)} else name_key end,
      shown_path[${folder.path.length}::int] = ${pathEntry(sql`${folder.id}::bigint`, name)}
    where ${isBelow(folder)}`);

/** The folders of one embed tenant, or of the main workspace, in one deployment. The tenant is its content key. */
export interface Tree {
  deploymentId: number;
  embedTenant: string | null;
}

const treeKey = ({ deploymentId, embedTenant }: Tree): Sql =>
  sql`hashtextextended(${`folders ${embedTenant ?? ''}`}, ${deploymentId})`;

/** Allows one change of a tree at a time. If two moves together would make a cycle, the second one sees the first. */
export const lockTree = (tx: Tx, tree: Tree) => tx.run(sql`select pg_advisory_xact_lock(${treeKey(tree)})`);

/** Shares the lock with other requests that only need the tree to stay unchanged. */
export const lockTreeShared = (tx: Tx, tree: Tree) =>
  tx.run(sql`select pg_advisory_xact_lock_shared(${treeKey(tree)})`);

/** The number of levels of the folder and the folders below it. */
export const findHeight = async (tx: Tx, folder: { id: number; path: number[] }) =>
  (
    await tx.one<{ height: number }>(sql`
      select max(cardinality(path)) - ${folder.path.length - 1} as height from folders where ${isBelow(folder)}`)
  ).height;

/** Moves the folder, and rewrites the paths of the folders below it. Nothing else depends on the place of a folder. */
export const moveFolder = (
  tx: Tx,
  folder: { id: number; path: number[] },
  parent: { id: number; path: number[] } | null,
  updatedBy: number,
) =>
  tx.run(sql`
    update folders set
      path = ${parent?.path ?? []}::bigint[] || path[${folder.path.length}::int:],
      shown_path = ${shownPathOf(parent)} || shown_path[${folder.path.length}::int:],
      parent_id = case when id = ${folder.id} then ${parent?.id ?? null}::bigint else parent_id end,
      updated_by = case when id = ${folder.id} then ${updatedBy} else updated_by end,
      updated_at = case when id = ${folder.id} then now() else updated_at end
    where ${isBelow(folder)}`);
