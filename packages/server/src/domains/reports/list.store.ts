/**
 * Pages of reports, at any size of a deployment. A page is found by one of three ways, each of which reads about
 * as many rows as it answers with in the case that it is for:
 *
 * - `scanInOrder` walks an index in the order of the list. For who reaches all that the list is of, and, over a
 *   bounded stretch, for who reaches much of it.
 * - `mergeBranches` takes the first rows of each place that the viewer reaches, and merges them. For who reaches
 *   little.
 * - `sortHits` finds what is searched for by its trigrams and sorts that. For what is rare.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { join, literal, raw, type Sql, sql } from '../../platform/db/sql.ts';
import { PAGE_SIZE_DEFAULT } from '../../platform/http/pages.ts';
import { grantedIds, inTenant, READ, reachedFolders, removedFolders, type Viewer } from '../access/index.ts';
import type { Position, ReportFilter, ReportQuery } from './list-query.ts';
import { searchPattern } from './rules.ts';
import { BEFORE, bytesBefore, findStoredReportsOf } from './store.ts';

/** What was never opened has no key of its own: `listByLastViewed` does without. */
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

/** Where a list is of one folder or workbook, their own indexes serve it, and the deployment is checked there. */
function inPlace({ viewer, filter }: { viewer: Viewer; filter: ReportFilter }): Sql {
  const { deploymentId } = viewer;
  const places = [
    ...(filter.folderId === null
      ? []
      : [
          sql`r.folder_id = (select id from folders where id = ${filter.folderId} and deployment_id = ${deploymentId})`,
        ]),
    ...(filter.workbookId === null
      ? []
      : [
          sql`r.workbook_id = (select id from workbooks where id = ${filter.workbookId} and deployment_id = ${deploymentId})`,
        ]),
  ];
  return and([
    ...(places.length ? places : [sql`r.deployment_id = ${deploymentId}`]),
    inTenant('r', filter.embedTenant),
  ]);
}

/** Whether the viewer reaches every report there is. */
export const reachesAll = (viewer: Viewer) => viewer.levels.Report >= READ;

/** Whether the viewer reaches the report `r`. */
export const isVisible = (viewer: Viewer, folderIds = sql`select unnest(${reachedFolders(viewer)})`): Sql =>
  reachesAll(viewer)
    ? sql`true`
    : sql`(r.user_id = ${viewer.userId} or r.scope_folder_id in (${folderIds})
           or r.id in (${grantedIds(viewer, 'Report')}) or r.workbook_id in (${grantedIds(viewer, 'Workbook')}))`;

/** The text is made an expression, so that the trigram index stays out of where it would not help. */
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
 * As above, and prepared where the list is a common one, because planning takes as long as reading: the name stands for
 * what the source depends on beside the query. Its limits stand in the text, so that plans are made for them.
 */
const answerPrepared = (db: Queryable, query: ReportQuery, name: string, source: Sql) =>
  isCommon(query)
    ? db.many<Position>(positions(query, source).named(`${name}-${orderName(query)}`))
    : answer(db, query, source);

const orderName = ({ sortBy, direction, after }: ReportQuery) =>
  `${sortBy}-${direction}-${after === null ? 'first' : 'after'}`;

/** The lists that are asked for most: of all reports that the viewer reaches, in pages of the default size. */
export const isCommon = ({ filter, sortBy, limit, offset }: ReportQuery) =>
  sortBy !== 'lastViewedAt' &&
  Object.values(filter).every((value) => value === null) &&
  limit === PAGE_SIZE_DEFAULT + 1 &&
  offset === 0;

/** For who reaches all of a common list: the reports are read along. */
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

/** Exact, and as fast as the share of rows that match is large. */
export const scanInOrder = (db: Queryable, query: ReportQuery) =>
  answer(
    db,
    query,
    sql`select ${position(query)} from reports r
        where ${and([inPlace(query), behind(query), isVisible(query.viewer), isFound(query.filter)])}
        ${inOrder(query)} limit ${query.limit + query.offset}`,
  );

/**
 * The rows that match among the first `stretch` of the list, in their order. Of folders, only those that occur there
 * are looked at: a viewer can reach thousands. With `is true`, what was granted is hashed once and not joined.
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
          and exists (select from unnest(f.path) above where (above in (${grantedIds(query.viewer, 'Folder')})) is true))
      select r.id, r.key from stretch r
      where found and ${isVisible(query.viewer, sql`select id from reached`)}`,
  );

/**
 * For a viewer who does not reach all: the first rows of what they own, were given, and of each folder and workbook.
 * What lies in a folder or workbook is in its deployment: asking again would let the planner expect too few rows.
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
        union ${each(grantedIds(viewer, 'Workbook'), 'r.workbook_id')}`,
  );
}

/** For a search of three letters or more, and for a spreadsheet: finds the hits first. */
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

/** The exact number of reports that match, whatever the page. */
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

/** A viewer who reaches no more than this is served branch by branch even when searching. */
export const FEW = 20_000;

/** How many reports the viewer reaches in all. */
export const countReach = async (db: Queryable, viewer: Viewer) =>
  (await db.one<{ count: number }>(visibleCount(viewer))).count;

/** For a viewer who reaches little: looks at all of it. */
const countBranches = (viewer: Viewer, filter: ReportFilter): Sql => sql`
  with mine as materialized (
    select id from reports where user_id = ${viewer.userId} and deployment_id = ${viewer.deploymentId}
    union ${grantedIds(viewer, 'Report')}
    union select r.id from unnest(${reachedFolders(viewer)}) f (id) join reports r on r.scope_folder_id = f.id
    union select id from reports where workbook_id in (${grantedIds(viewer, 'Workbook')}))
  select count(*) from mine join reports r on r.id = mine.id
  where ${and([inPlace({ viewer, filter }), isFound(filter)])}`;

const storedCount = ({ deploymentId }: Viewer, condition: Sql): Sql => sql`
  select coalesce(sum(count), 0)::bigint as count from report_counts where deployment_id = ${deploymentId} and ${condition}`;

/** Without what is being removed with its folder. */
const wholeCount = (viewer: Viewer): Sql => sql`
  select (${storedCount(viewer, sql`folder_id = -1`)})
       - (${storedCount(viewer, sql`folder_id in (${removedFolders})`)}) as count`;

/** What is under the folders that the viewer reaches is counted there; only what else they have is looked at. */
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
      where workbook_id in (${grantedIds(viewer, 'Workbook')}) and ${inTenant('r', null)}) own
    where not exists (select from folders f where f.id = own.scope_folder_id
                        and f.path && array(${grantedIds(viewer, 'Folder')}))) as count`.named(
    'count-visible-reports',
  );

/** What the viewer has opened, last first, and then everything else. */
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
