/** Folders, workbooks and reports in one list. Each kind is read in the order of the list, and then they are merged. */
import type { Queryable } from '../../platform/db/database.ts';
import { join, literal, raw, type Sql, sql } from '../../platform/db/sql.ts';
import {
  type Alias,
  EDIT,
  folderLevel,
  fromReach,
  grantedIds,
  inTenant,
  isIn,
  type ListedPlace,
  MANAGE,
  type Noun,
  READ,
  reportLevel,
  type Viewer,
  withContent,
  workbookLevel,
} from '../access/index.ts';
import { visibleFolders } from '../folders/index.ts';
import { hasTrigrams, searchPattern, isVisible as visibleReports } from '../reports/index.ts';
import { visibleWorkbooks } from '../workbooks/index.ts';

export type ItemType = 'FOLDER' | 'WORKBOOK' | 'REPORT';
export type OrderBy = 'updated_at' | 'created_at' | 'name' | 'viewer_last_viewed_at';

export interface WorkspaceQuery {
  viewer: Viewer;
  /** Whether the list holds only content of others, in the viewer's embed tenant or shared with them by policies. */
  shared: boolean;
  /** Only what the viewer owns. */
  owned: boolean;
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
  /** The sort key as text; times have microseconds. */
  key: string;
}

interface Kind {
  noun: Noun;
  alias: Alias;
  row: Sql;
  table: Sql;
  /** The columns that decide who reaches the row. */
  reach: Sql;
  visible: (viewer: Viewer) => Sql;
  /** The text that a search looks through. */
  text: Sql;
}

const KINDS: Record<ItemType, Kind> = {
  FOLDER: {
    noun: 'Folder',
    alias: 'f',
    row: raw('f'),
    table: raw('folders f'),
    reach: raw('f.id, f.user_id'),
    visible: visibleFolders,
    text: raw('f.name_key'),
  },
  WORKBOOK: {
    noun: 'Workbook',
    alias: 'w',
    row: raw('w'),
    table: raw('workbooks w'),
    reach: raw('w.id, w.user_id, w.folder_id'),
    visible: visibleWorkbooks,
    text: raw('w.name_key'),
  },
  REPORT: {
    noun: 'Report',
    alias: 'r',
    row: raw('r'),
    table: raw('reports r'),
    reach: raw('r.id, r.user_id, r.scope_folder_id, r.workbook_id'),
    visible: visibleReports,
    text: raw('r.search_text'),
  },
};

export const listWorkspace = (db: Queryable, query: WorkspaceQuery) => {
  const dir = raw(query.direction);
  const branches = query.types.map((type) => sql`(${ofType(query, type)})`);
  return db.many<WorkspacePosition>(sql`
    select type, id, key::text from (${join(branches, ' union all ')}) items
    order by items.key ${dir}, type ${dir}, id ${dir} limit ${literal(query.limit)}`);
};

/** The positions of one kind: at most one page from each place that they are found in. */
function ofType(query: WorkspaceQuery, type: ItemType): Sql {
  const { viewer, shared, folderId, search } = query;
  const { noun, row, table, visible, text } = KINDS[type];
  if (query.owned) return owned(query, type);
  if (search !== null && hasTrigrams(search)) return found(query, type, search);
  const rows = (from: Sql, condition: Sql) =>
    page(query, type, from, and(condition, ...common(query, type), ...matches(text, search)));
  const everywhere = sql`${row}.deployment_id = ${viewer.deploymentId}`;
  if (shared && folderId === null && search === null) {
    return viewer.isExternal
      ? rows(table, and(everywhere, ...foremost(viewer, type)))
      : rows(table, sql`${row}.id = any(array(${grantedIds(viewer, noun)})) and ${everywhere}`);
  }
  return fromReach(viewer, noun, placeOf(query), visible(viewer), rows);
}

/**
 * Items of the viewer, who reaches them wherever they lie. `offset 0` keeps the planner from reading the whole list.
 */
function owned(query: WorkspaceQuery, type: ItemType): Sql {
  const { viewer, search } = query;
  const { row, table, text, noun } = KINDS[type];
  const place = isIn(viewer, noun, query.folderId ?? undefined);
  const conditions = and(
    place,
    sql`${row}.user_id = ${viewer.userId}`,
    ...common(query, type),
    ...matches(text, search),
  );
  return page(query, type, sql`(select * from ${table} where ${conditions} offset 0) ${row}`, sql`true`);
}

const and = (...conditions: Sql[]) => join(conditions, ' and ');

const matches = (text: Sql, search: string | null): Sql[] =>
  search === null ? [] : [sql`${text} like ${searchPattern(search)}`];

/** A search without a folder looks everywhere. A report in a workbook is not at the root, even if the workbook is. */
const placeOf = ({ folderId, search }: WorkspaceQuery): ListedPlace =>
  folderId ?? (search === null ? null : undefined);

function common({ viewer, shared, embedTenant }: WorkspaceQuery, type: ItemType): Sql[] {
  const { alias, row } = KINDS[type];
  return [inTenant(alias, embedTenant), ...(shared ? [sql`${row}.user_id <> ${viewer.userId}`] : [])];
}

/**
 * Conditions for the first level of the shared list. Content in a folder or workbook of others shows when the viewer
 * opens that. Content in a folder or workbook of the viewer shows here, because it would show nowhere else.
 */
function foremost({ userId }: Viewer, type: ItemType): Sql[] {
  const notInTheirs = (table: string, id: string) =>
    sql`not exists (select from ${raw(table)} c where c.id = ${raw(id)} and c.user_id <> ${userId})`;
  if (type === 'FOLDER') return [notInTheirs('folders', 'f.parent_id')];
  if (type === 'WORKBOOK') return [notInTheirs('folders', 'w.folder_id')];
  return [notInTheirs('folders', 'r.folder_id'), notInTheirs('workbooks', 'r.workbook_id')];
}

/** How many pages of the list a search reads before it uses the trigram index. */
const STRETCH_PAGES = 24;

/**
 * Frequent words are found among the first rows of the list. Only if these are not enough, all hits are found and
 * sorted. `offset 0` keeps the planner from reading the whole list to find them.
 */
function found(query: WorkspaceQuery, type: ItemType, search: string): Sql {
  const { viewer, orderBy, limit } = query;
  const { noun, row, table, reach, text } = KINDS[type];
  const here = and(isIn(viewer, noun, placeOf(query)), ...common(query, type));
  const visible = KINDS[type].visible(viewer);
  const hits = (condition: Sql) =>
    page(
      query,
      type,
      sql`(select * from ${table} where ${and(...matches(text, search), here, visible, condition)} offset 0) ${row}`,
      sql`true`,
    );
  if (orderBy === 'viewer_last_viewed_at') return hits(sql`true`);
  const stretch = literal(limit * STRETCH_PAGES);
  const near = page(query, type, sql`stretch ${row}`, and(raw('found'), visible));
  // The text is part of an expression, so that the planner does not use the trigram index, which would not help here.
  return sql`
    with stretch as materialized (
      select ${reach}, ${row}.${raw(COLUMN[orderBy])}, (${text} || '') like ${searchPattern(search)} as found
      from ${table} where ${and(here, behind(query, type))} ${inOrder(query, type)} limit ${stretch}),
    near as materialized (${near}),
    enough as materialized (
      select (select count(*) from near) = ${literal(limit)} or (select count(*) from stretch) < ${stretch} as yes)
    (select * from near where (select yes from enough))
    union all (${hits(sql`not (select yes from enough)`)})`;
}

/** The first rows of a kind after the cursor, from a table and under a condition. */
function page(query: WorkspaceQuery, type: ItemType, from: Sql, condition: Sql): Sql {
  const { viewer, orderBy, limit } = query;
  const select = (key: Sql, source: Sql, more: Sql[], order: Sql) => sql`
    (select ${type}::text collate "C" as type, ${KINDS[type].row}.id, ${key} as key from ${source}
     where ${and(condition, ...more)} ${order} limit ${literal(limit)})`;
  const unviewed = (more: Sql[]) =>
    select(NEVER, from, [neverBehind(query, type), ...more], inOrder(query, type));
  if (orderBy !== 'viewer_last_viewed_at')
    return select(keyOf(query, type), from, [behind(query, type)], inOrder(query, type));
  if (type !== 'REPORT') return unviewed([]);
  // Two queries, because the rows of one query would have to be sorted. With a join, the planner would do that.
  const mine = sql`from report_views v where v.user_id = ${viewer.userId}`;
  const viewed = select(
    raw('v.viewed_at'),
    sql`(select report_id, viewed_at ${mine} offset 0) v join ${from} on r.id = v.report_id`,
    [after(query, type, raw('v.viewed_at'))],
    sql`order by v.viewed_at ${raw(query.direction)}, r.id ${raw(query.direction)}`,
  );
  return sql`(${viewed} union all ${unviewed([sql`(select true ${mine} and v.report_id = r.id) is null`])})`;
}

const COLUMN = { name: 'name_key', created_at: 'created_at', updated_at: 'updated_at' } as const;
/** The key of items that were never viewed: it is lower than every time of a view. */
const NEVER = raw(`'-infinity'::timestamptz`);

/** All kinds compare by the same type. */
const keyOf = ({ orderBy }: WorkspaceQuery, type: ItemType): Sql =>
  orderBy === 'viewer_last_viewed_at' ? NEVER : sql`${KINDS[type].row}.${raw(COLUMN[orderBy])}`;

function inOrder(query: WorkspaceQuery, type: ItemType): Sql {
  const dir = raw(query.direction);
  const byId = sql`${KINDS[type].row}.id ${dir}`;
  return query.orderBy === 'viewer_last_viewed_at'
    ? sql`order by ${byId}`
    : sql`order by ${keyOf(query, type)} ${dir}, ${byId}`;
}

const behind = (query: WorkspaceQuery, type: ItemType) => after(query, type, keyOf(query, type));

function after({ after, direction, orderBy }: WorkspaceQuery, type: ItemType, key: Sql): Sql {
  if (!after) return sql`true`;
  const [afterKey, afterType, afterId] = after;
  const than = raw(direction === 'ASC' ? '>' : '<');
  const value = sql`${afterKey}::${raw(orderBy === 'name' ? 'text collate "C"' : 'timestamptz')}`;
  if (type === afterType) return sql`(${key}, ${KINDS[type].row}.id) ${than} (${value}, ${afterId}::bigint)`;
  return isLaterKind(direction, type, afterType)
    ? sql`${key} ${than}= ${value}`
    : sql`${key} ${than} ${value}`;
}

/** Whether rows of the kind `type` come after rows of the kind `afterType` with the same key. */
const isLaterKind = (direction: 'ASC' | 'DESC', type: ItemType, afterType: ItemType) =>
  direction === 'ASC' ? type > afterType : type < afterType;

/** Like `behind`, for items that were never viewed. It compares only ids, so that the query can use an index. */
function neverBehind({ after, direction }: WorkspaceQuery, type: ItemType): Sql {
  if (!after) return sql`true`;
  const [afterKey, afterType, afterId] = after;
  if (afterKey !== '-infinity') return direction === 'DESC' ? sql`true` : sql`false`;
  if (type !== afterType) return isLaterKind(direction, type, afterType) ? sql`true` : sql`false`;
  return sql`${KINDS[type].row}.id ${raw(direction === 'ASC' ? '>' : '<')} ${afterId}::bigint`;
}

export const itemKey = ({ type, id }: { type: ItemType; id: number }) => `${type}:${id}`;

/** The embed tenant of each item that the viewer reaches, by the key of the item. Null is the main workspace. */
export async function findEmbedTenants(
  db: Queryable,
  viewer: Viewer,
  items: readonly { type: ItemType; id: number }[],
): Promise<Map<string, string | null>> {
  const ofKind = (type: ItemType) => {
    const { alias, row, table, visible } = KINDS[type];
    const ids = items.filter((item) => item.type === type).map(({ id }) => id);
    const confined = viewer.embedTenant === null ? [] : [inTenant(alias, viewer.embedTenant)];
    const here = [sql`${row}.id = any(${ids}::bigint[])`, sql`${row}.deployment_id = ${viewer.deploymentId}`];
    return sql`
      select ${type}::text as type, ${row}.id, ${row}.embed_tenant as "embedTenant"
      from ${table} where ${and(...here, ...confined, visible(viewer))}`;
  };
  const kinds = [...new Set(items.map(({ type }) => type))].map(ofKind);
  const rows = await db.many<{ type: ItemType; id: number; embedTenant: string | null }>(
    join(kinds, ' union all '),
  );
  return new Map(rows.map((row) => [itemKey(row), row.embedTenant]));
}

export interface ItemRights {
  type: ItemType;
  id: number;
  canEdit: boolean;
  canManage: boolean;
  canMove: boolean;
}

const LEVELS: Record<ItemType, { from: Sql; level: (viewer: Viewer) => Sql }> = {
  FOLDER: { from: raw('folders f'), level: folderLevel },
  WORKBOOK: { from: raw('workbooks w left join folders f on f.id = w.folder_id'), level: workbookLevel },
  REPORT: { from: raw('reports r left join folders f on f.id = r.scope_folder_id'), level: reportLevel },
};

/** What the viewer may do with the items of these ids that they may read. */
export const findRights = (db: Queryable, viewer: Viewer, ids: Record<ItemType, readonly number[]>) => {
  const ofKind = (type: ItemType) => {
    const { row } = KINDS[type];
    const { from, level } = LEVELS[type];
    return sql`
      select ${type}::text as type, id, level >= ${literal(EDIT)} as "canEdit", level >= ${literal(MANAGE)} as "canManage",
        level >= ${literal(MANAGE)} and whole >= ${literal(MANAGE)} as "canMove"
      from (select ${row}.id, ${level(viewer)} as level, ${level(withContent(viewer))} as whole from ${from}
            where ${row}.id = any(${ids[type]}::bigint[]) and ${row}.deployment_id = ${viewer.deploymentId} offset 0) items
      where level >= ${literal(READ)}`;
  };
  const kinds = (Object.keys(LEVELS) as ItemType[]).filter((type) => ids[type].length > 0).map(ofKind);
  return kinds.length ? db.many<ItemRights>(join(kinds, ' union all ')) : [];
};
