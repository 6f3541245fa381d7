/**
 * Pages of reports, for deployments of any size. There are three ways to find a page. Each reads about as many rows as
 * it returns, in the cases that it is used for:
 *
 * - `scanInOrder` reads an index in the order of the list. Used when the viewer may read every row of the list.
 *   `scanStretch` does so for a limited part of the list, for viewers who may read many of its rows.
 * - `mergeBranches` takes the first rows of each place that the viewer reaches, and merges them. Used when the viewer
 *   may read few reports.
 * - `sortHits` finds the reports that match a search by their trigrams, and sorts them. Used for rare words.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { join, literal, raw, type Sql, sql } from '../../platform/db/sql.ts';
import { PAGE_SIZE_DEFAULT } from '../../platform/http/pages.ts';
import {
  grantedIds,
  heldIds,
  inTenant,
  isOfTenant,
  isPresent,
  READ,
  reachedFolders,
  removedFolders,
  type Viewer,
} from '../access/index.ts';
import type { Position, ReportFilter, ReportQuery } from './list-query.ts';
import { searchPattern } from './rules.ts';
import { BEFORE, bytesBefore, findStoredReportsOf } from './store.ts';

/** A report that the viewer never opened has no time of a last view. `listByLastViewed` does not use this column. */
const COLUMN = {
  name: raw('r.name_key'),
  createdAt: raw('r.created_at'),
  updatedAt: raw('r.updated_at'),
  lastViewedAt: raw('r.created_at'),
};
const TYPE = {
  name: raw('text collate "C"'),
  createdAt: raw('timestamptz'),
  updatedAt: raw('timestamptz'),
  lastViewedAt: raw('timestamptz'),
};

const and = (conditions: Sql[]) => join(conditions, ' and ');

/**
 * A list of one folder or workbook uses the index of that column. Its deployment, and whether it is being removed, is
 * checked once for the folder or workbook and not for each report, so that the index alone is enough to count them.
 */
function inPlace({ viewer, filter }: { viewer: Viewer; filter: ReportFilter }): Sql {
  const { deploymentId } = viewer;
  const { folderId, workbookId, embedTenant } = filter;
  if (folderId === null && workbookId === null)
    return sql`r.deployment_id = ${deploymentId} and ${inTenant('r', embedTenant)}`;
  const inFolder = sql`r.folder_id = (
    select id from folders where id = ${folderId} and deployment_id = ${deploymentId} and id not in (${removedFolders}))`;
  const inWorkbook = sql`r.workbook_id = (
    select id from workbooks w where id = ${workbookId} and deployment_id = ${deploymentId} and ${isPresent('w')})`;
  return and([
    ...(folderId === null ? [] : [inFolder]),
    ...(workbookId === null ? [] : [inWorkbook]),
    isOfTenant('r', embedTenant),
  ]);
}

/** Whether the viewer may read every report. */
export const reachesAll = (viewer: Viewer) => viewer.levels.Report >= READ;

/** Whether the viewer may read the report `r`. */
export const isVisible = (viewer: Viewer, folderIds = sql`select unnest(${reachedFolders(viewer)})`): Sql =>
  reachesAll(viewer)
    ? sql`true`
    : sql`(r.user_id = ${viewer.userId} or r.scope_folder_id in (${folderIds})
           or r.id in (${grantedIds(viewer, 'Report')}) or r.workbook_id in (${heldIds(viewer, 'Workbook')}))`;

/** The text is part of an expression, so that the planner does not use the trigram index, which would not help here. */
function isFound({ search, externalWorkbookId }: ReportFilter): Sql {
  const conditions = [
    ...(search === null ? [] : [sql`(r.search_text || '') like ${searchPattern(search)}`]),
    ...(externalWorkbookId === null ? [] : [hasExternalWorkbook(externalWorkbookId)]),
  ];
  return conditions.length ? and(conditions) : sql`true`;
}

const hasExternalWorkbook = (id: string): Sql => sql`r.id in (
  select id from reports where external_workbook_id = ${id}
  union select report_id from report_placements where external_workbook_id = ${id})`;

const behind = ({ sortBy, direction, after }: ReportQuery): Sql =>
  after === null
    ? sql`true`
    : sql`(${COLUMN[sortBy]}, r.id) ${raw(direction === 'ASC' ? '>' : '<')} (${after[0]}::${TYPE[sortBy]}, ${after[1]}::bigint)`;

const inOrder = ({ sortBy, direction }: ReportQuery): Sql =>
  sql`order by ${COLUMN[sortBy]} ${raw(direction)}, r.id ${raw(direction)}`;

const byKey = ({ direction }: ReportQuery): Sql =>
  sql`order by page.key ${raw(direction)}, page.id ${raw(direction)}`;

const position = ({ sortBy }: ReportQuery): Sql => sql`r.id, ${COLUMN[sortBy]} as key`;

const positions = (query: ReportQuery, source: Sql) => sql`
  select id, key::text from (${source}) page ${byKey(query)} limit ${query.limit} offset ${query.offset}`;

const answer = (db: Queryable, query: ReportQuery, source: Sql) =>
  db.many<Position>(positions(query, source));

/**
 * Uses a prepared statement for common lists, because planning takes as long as reading. The name must differ for each
 * SQL text that the source can have. Limits stand in the text, so that the planner knows them.
 */
const answerPrepared = (db: Queryable, query: ReportQuery, name: string, source: Sql) =>
  isCommon(query)
    ? db.many<Position>(positions(query, source).named(`${name}-${orderName(query)}`))
    : answer(db, query, source);

const orderName = ({ sortBy, direction, after, limit }: ReportQuery) =>
  `${sortBy}-${direction}-${after === null ? 'first' : 'after'}-${limit}`;

/** Few, because a connection keeps the plan of each prepared statement in memory. */
const COMMON_SIZES = [10, 20, 25, PAGE_SIZE_DEFAULT, 100];

/** Whether this is one of the most frequent lists: all reports that the viewer may read, in pages of a usual size. */
export const isCommon = ({ filter, sortBy, limit, offset }: ReportQuery) =>
  sortBy !== 'lastViewedAt' &&
  Object.values(filter).every((value) => value === null) &&
  COMMON_SIZES.includes(limit - 1) &&
  offset === 0;

/** Used when the viewer may read every row of a common list: one query finds the page and reads its reports. */
export function scanAll(db: Queryable, query: ReportQuery & { size: number }) {
  const order = inOrder(query);
  return findStoredReportsOf(db, query.viewer, {
    rows: sql`
      select r.*, ${COLUMN[query.sortBy]}::text as key, row_number() over (${order} ${BEFORE}) as n,
        ${bytesBefore(order)} as bytes_before
      from reports r
      where ${and([inPlace(query), behind(query)])} ${order} limit ${literal(query.limit)}`,
    least: READ,
    size: query.size,
    beyond: 'nothing',
    name: `all-reports-${orderName(query)}`,
  });
}

/** Always finds the whole page. It is fast if a large share of the rows matches. */
export const scanInOrder = (db: Queryable, query: ReportQuery) =>
  answer(
    db,
    query,
    sql`select ${position(query)} from reports r
        where ${and([inPlace(query), behind(query), isVisible(query.viewer), isFound(query.filter)])}
        ${inOrder(query)} limit ${query.limit + query.offset}`,
  );

/**
 * The rows that match among the first `stretch` rows of the list, in their order. Only folders of these rows are checked,
 * because a viewer can reach thousands. `is true` makes the planner hash the granted ids once and not join them.
 */
export const scanStretch = (db: Queryable, query: ReportQuery, stretch: number) =>
  answerPrepared(
    db,
    query,
    `stretch-of-${stretch}`,
    sql`
      with stretch as materialized (
        select ${position(query)}, r.user_id, r.scope_folder_id, r.workbook_id, ${isFound(query.filter)} as found
        from reports r where ${and([inPlace(query), behind(query)])} ${inOrder(query)} limit ${literal(stretch)}),
      reached as materialized (
        select f.id from folders f where f.id in (select scope_folder_id from stretch where found)
          and exists (select from unnest(f.path) above where (above in (${heldIds(query.viewer, 'Folder')})) is true))
      select r.id, r.key from stretch r
      where found and ${isVisible(query.viewer, sql`select id from reached`)}`,
  );

/**
 * Used when the viewer may not read all reports. Merges the first rows of what they own, of what was shared with them,
 * and of each folder and workbook that they reach. The content of a folder or workbook is in the same deployment. A
 * second condition on the deployment would make the planner expect too few rows.
 */
export function mergeBranches(db: Queryable, query: ReportQuery) {
  const { viewer } = query;
  const most = literal(query.limit + query.offset);
  const rows = (...conditions: Sql[]) => sql`
    (select ${position(query)} from reports r
     where ${and([...conditions, inTenant('r', query.filter.embedTenant), behind(query), isFound(query.filter)])}
     ${inOrder(query)} limit ${most})`;
  const inDeployment = sql`r.deployment_id = ${viewer.deploymentId}`;
  const each = (ids: Sql, column: string) => sql`
    select b.* from (select distinct id from (${ids}) ids (id)) place, lateral ${rows(sql`${raw(column)} = place.id`)} b`;
  return answerPrepared(
    db,
    query,
    'branches',
    sql`${rows(sql`r.user_id = ${viewer.userId}`, inDeployment)}
        union ${rows(sql`r.id in (${grantedIds(viewer, 'Report')})`, inDeployment)}
        union ${each(sql`select unnest(${reachedFolders(viewer)})`, 'r.scope_folder_id')}
        union ${each(heldIds(viewer, 'Workbook'), 'r.workbook_id')}`,
  );
}

/** Used for searches of three letters or more and for lists of one spreadsheet: finds the matching reports first. */
const hits = ({ viewer, filter }: { viewer: Viewer; filter: ReportFilter }): Sql => sql`
  select r.* from reports r
  where ${and([
    ...(filter.search === null ? [] : [sql`r.search_text like ${searchPattern(filter.search)}`]),
    ...(filter.externalWorkbookId === null ? [] : [hasExternalWorkbook(filter.externalWorkbookId)]),
    inPlace({ viewer, filter }),
    isVisible(viewer),
  ])}`;

export const sortHits = (db: Queryable, query: ReportQuery) =>
  db.many<Position>(sql`
    with found as materialized (select r.id, ${COLUMN[query.sortBy]} from (${hits(query)}) r)
    select id, key::text from (select ${position(query)} from found r where ${behind(query)}) page
    ${byKey(query)} limit ${query.limit} offset ${query.offset}`);

/** The exact number of reports that match, on all pages. */
export async function countReports(db: Queryable, viewer: Viewer, filter: ReportFilter): Promise<number> {
  const { search, externalWorkbookId, folderId, workbookId, embedTenant } = filter;
  const whole = folderId === null && workbookId === null && embedTenant === null;
  const counted = search !== null || externalWorkbookId !== null || !whole;
  const few = counted && whole && !reachesAll(viewer) && (await countReach(db, viewer)) <= FEW;
  const query = counted
    ? few
      ? countBranches(viewer, filter)
      : sql`select count(*) from (${hits({ viewer, filter })}) h`
    : reachesAll(viewer)
      ? wholeCount(viewer)
      : visibleCount(viewer);
  return (await db.one<{ count: number }>(query)).count;
}

/** For a viewer who reaches at most this many reports, a search reads the branches of `mergeBranches`. */
export const FEW = 20_000;

/** The number of all reports that the viewer reaches. */
export const countReach = async (db: Queryable, viewer: Viewer) =>
  (await db.one<{ count: number }>(visibleCount(viewer))).count;

/** Used when the viewer reaches few reports: checks each of them. */
const countBranches = (viewer: Viewer, filter: ReportFilter): Sql => sql`
  with mine as materialized (
    select id from reports where user_id = ${viewer.userId} and deployment_id = ${viewer.deploymentId}
    union ${grantedIds(viewer, 'Report')}
    union select r.id from unnest(${reachedFolders(viewer)}) f (id) join reports r on r.scope_folder_id = f.id
    union select id from reports where workbook_id in (${heldIds(viewer, 'Workbook')}))
  select count(*) from mine join reports r on r.id = mine.id
  where ${and([inPlace({ viewer, filter }), isFound(filter)])}`;

const storedCount = ({ deploymentId }: Viewer, condition: Sql): Sql => sql`
  select coalesce(sum(count), 0)::bigint as count from report_counts where deployment_id = ${deploymentId} and ${condition}`;

/** Does not count reports that are being removed with their folder. */
const wholeCount = (viewer: Viewer): Sql => sql`
  select (${storedCount(viewer, sql`folder_id = -1`)})
       - (${storedCount(viewer, sql`folder_id in (${removedFolders})`)}) as count`;

/** Adds up the stored counts of the folders that the viewer reaches, and counts only their other reports one by one. */
const visibleCount = (viewer: Viewer): Sql =>
  sql`
  select (${storedCount(viewer, sql`folder_id = any(${reachedFolders(viewer)})`)}) + (
    select count(*) from (
      select id, scope_folder_id from reports r
      where user_id = ${viewer.userId} and deployment_id = ${viewer.deploymentId} and ${inTenant('r', null)}
      union
      select id, scope_folder_id from reports r
      where id in (${grantedIds(viewer, 'Report')}) and ${inTenant('r', null)}
      union
      select id, scope_folder_id from reports r
      where workbook_id in (${heldIds(viewer, 'Workbook')}) and ${inTenant('r', null)}) own
    where (own.scope_folder_id in (select unnest(${reachedFolders(viewer)}))) is not true) as count`.named(
    'count-visible-reports',
  );

/** The reports that the viewer has opened, in the order of their last view, and then all others. */
export async function listByLastViewed(db: Queryable, query: ReportQuery): Promise<Position[]> {
  const { viewer, filter, direction, limit, offset } = query;
  const conditions = and([inPlace(query), isVisible(viewer), isFound(filter)]);
  const opened = sql`
    from report_views v join reports r on r.id = v.report_id where v.user_id = ${viewer.userId} and ${conditions}`;
  const seen = await db.many<Position>(sql`
    select r.id, v.viewed_at::text as key ${opened}
    order by v.viewed_at ${raw(direction)}, r.id ${raw(direction)} limit ${limit} offset ${offset}`);
  if (seen.length === limit) return seen;
  const { count } = await db.one<{ count: number }>(sql`select count(*) ${opened}`);
  const rest = await db.many<Position>(sql`
    select r.id, '' as key from reports r
    where ${conditions} and not exists (select from report_views v where v.user_id = ${viewer.userId} and v.report_id = r.id)
    order by r.id ${raw(direction)} limit ${limit - seen.length} offset ${Math.max(0, offset - count)}`);
  return [...seen, ...rest];
}
