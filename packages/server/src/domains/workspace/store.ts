/** Folders, workbooks and reports in one list. Each kind is read in the order of the list, and then they are merged. */
import type { Queryable } from '../../platform/db/database.ts';
import { join, raw, type Sql, sql } from '../../platform/db/sql.ts';
import { type Alias, grantedIds, inTenant, type Noun, type Viewer } from '../access/index.ts';
import { visibleFolders } from '../folders/index.ts';
import { searchPattern, isVisible as visibleReports } from '../reports/index.ts';
import { visibleWorkbooks } from '../workbooks/index.ts';

export type ItemType = 'FOLDER' | 'WORKBOOK' | 'REPORT';
export type OrderBy = 'updated_at' | 'created_at' | 'name' | 'viewer_last_viewed_at';

export interface WorkspaceQuery {
  viewer: Viewer;
  /** Only what others own: in the viewer's embed tenant, or reached by policies. */
  shared: boolean;
  folderId: number | null;
  types: readonly ItemType[];
  search: string | null;
  embedTenant: string | null;
  orderBy: OrderBy;
  direction: 'ASC' | 'DESC';
  after: [key: string, type: ItemType, id: number] | null;
  limit: number;
}

export interface WorkspacePosition {
  type: ItemType;
  id: number;
  /** Of the order, as text; times with microseconds. */
  key: string;
}

interface Kind {
  noun: Noun;
  alias: Alias;
  from: Sql;
  folder: Sql;
  visible: (viewer: Viewer) => Sql;
  search: Sql;
}

const KINDS: Record<ItemType, Kind> = {
  FOLDER: {
    noun: 'Folder',
    alias: 'f',
    from: raw('folders f'),
    folder: raw('f.parent_id'),
    visible: visibleFolders,
    search: raw('f.name_key'),
  },
  WORKBOOK: {
    noun: 'Workbook',
    alias: 'w',
    from: raw('workbooks w'),
    folder: raw('w.folder_id'),
    visible: visibleWorkbooks,
    search: raw('w.name_key'),
  },
  REPORT: {
    noun: 'Report',
    alias: 'r',
    from: raw('reports r'),
    folder: raw('r.folder_id'),
    visible: visibleReports,
    search: raw('r.search_text'),
  },
};

export const listWorkspace = (db: Queryable, query: WorkspaceQuery) => {
  const dir = raw(query.direction);
  const branches = query.types.map((type) => sql`(${branch(query, type)})`);
  return db.many<WorkspacePosition>(sql`
    select type, id, key::text from (${join(branches, ' union all ')}) items
    order by items.key ${dir}, type ${dir}, id ${dir} limit ${query.limit}`);
};

function branch(query: WorkspaceQuery, type: ItemType): Sql {
  const { viewer, direction, limit } = query;
  const { alias, from } = KINDS[type];
  const row = raw(alias);
  const key = keyOf(query, type);
  const views =
    query.orderBy === 'viewer_last_viewed_at' && type === 'REPORT'
      ? sql`left join report_views v on v.report_id = r.id and v.user_id = ${viewer.userId}`
      : sql``;
  return sql`
    select ${type}::text collate "C" as type, ${row}.id, ${key} as key from ${from} ${views}
    where ${join(conditions(query, type), ' and ')} and ${behind(query, type, key, row)}
    order by ${key} ${raw(direction)}, ${row}.id ${raw(direction)} limit ${limit}`;
}

function conditions(query: WorkspaceQuery, type: ItemType): Sql[] {
  const { viewer, shared, folderId, search, embedTenant } = query;
  const kind = KINDS[type];
  const row = raw(kind.alias);
  return [
    sql`${row}.deployment_id = ${viewer.deploymentId}`,
    inTenant(kind.alias, embedTenant),
    kind.visible(viewer),
    ...(shared ? [sql`${row}.user_id <> ${viewer.userId}`] : []),
    ...(search === null ? [] : [sql`${kind.search} like ${searchPattern(search)}`]),
    ...place(query, type, folderId),
  ];
}

/** A report in a workbook shows there and not beside it, unless it was shared by itself or is searched for. */
function place({ viewer, shared, search }: WorkspaceQuery, type: ItemType, folderId: number | null): Sql[] {
  const kind = KINDS[type];
  if (folderId !== null) return [sql`${kind.folder} = ${folderId}`];
  if (search !== null) return [];
  if (shared && viewer.isExternal) return foremost(viewer, type);
  if (shared) return [sql`${raw(kind.alias)}.id in (${grantedIds(viewer, kind.noun)})`];
  return [sql`${kind.folder} is null`, ...(type === 'REPORT' ? [sql`r.workbook_id is null`] : [])];
}

/** What lies in something of others shows there. In something of the viewer's own, it would be found nowhere else. */
function foremost({ userId }: Viewer, type: ItemType): Sql[] {
  const notInTheirs = (table: string, id: Sql) =>
    sql`not exists (select from ${raw(table)} c where c.id = ${id} and c.user_id <> ${userId})`;
  return [
    notInTheirs('folders', KINDS[type].folder),
    ...(type === 'REPORT' ? [notInTheirs('workbooks', raw('r.workbook_id'))] : []),
  ];
}

/** All kinds compare by the same type. What was never viewed comes behind everything that was. */
function keyOf({ orderBy }: WorkspaceQuery, type: ItemType): Sql {
  const row = raw(KINDS[type].alias);
  if (orderBy === 'name') return sql`${row}.name_key`;
  if (orderBy !== 'viewer_last_viewed_at') return sql`${row}.${raw(orderBy)}`;
  return type === 'REPORT' ? sql`coalesce(v.viewed_at, '-infinity')` : sql`'-infinity'::timestamptz`;
}

function behind({ after, direction, orderBy }: WorkspaceQuery, type: ItemType, key: Sql, row: Sql): Sql {
  if (!after) return sql`true`;
  const [afterKey, afterType, afterId] = after;
  const than = raw(direction === 'ASC' ? '>' : '<');
  const value = sql`${afterKey}::${raw(orderBy === 'name' ? 'text collate "C"' : 'timestamptz')}`;
  if (type === afterType) return sql`(${key}, ${row}.id) ${than} (${value}, ${afterId}::bigint)`;
  // Among equal keys, the kinds come one behind the other.
  const laterKind = direction === 'ASC' ? type > afterType : type < afterType;
  return laterKind ? sql`${key} ${than}= ${value}` : sql`${key} ${than} ${value}`;
}
