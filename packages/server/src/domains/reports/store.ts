import { limits } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { jsonElements, jsonFields, jsonPlain, jsonString, jsonTime } from '../../platform/db/json-text.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { json, raw, type Sql, sql } from '../../platform/db/sql.ts';
import { PAGE_BYTES_MAX } from '../../platform/http/pages.ts';
import { tooLarge } from '../../platform/limits.ts';
import {
  CONTENT_REFUSALS,
  EDIT,
  isRemoved,
  type Level,
  levelShape,
  MANAGE,
  READ,
  reportLevel,
  type Viewer,
  workbookLevel,
} from '../access/index.ts';
import { nameKey, pathText } from '../folders/index.ts';
import { searchText } from './rules.ts';

/** The fields that a caller can set. */
export interface ReportFields {
  name: string;
  title: string | null;
  description: string | null;
  source: 'HOSTED_SHEETS' | 'DESKTOP_SHEETS' | 'PLAYGROUND' | 'D3' | null;
  externalWorkbookId: string | null;
  resultLocation: string | null;
  endResultCell: string | null;
  sqlQuery: string | null;
  jsonQuery: string | null;
  pivotItems: { columns: string[]; measures: string[]; rows: string[]; filters: string[] } | null;
  meta: object | null;
}

export interface ReportPlace {
  folderId: number | null;
  workbookId: number | null;
  /** The folder whose policies reach the report: its own, or that of its workbook. */
  scopeFolderId: number | null;
  embedTenant: string | null;
}

/** The fields of a report that only the server needs. */
export type StoredReport = [
  id: number,
  /** The sort key of the report in its list. */
  key: string | null,
  scopeFolderId: number | null,
  embedTenant: string | null,
  level: Level,
  /** Whether the report is among the items. They end when the page has enough reports or enough bytes. */
  isItem: boolean,
];

export interface StoredReports {
  reports: StoredReport[];
  /**
   * The reports as callers see them, as the text of a JSON list. The database writes it, because reading forty columns
   * of each row and writing them again would be most of the cost of a page.
   */
  items: string;
}

/** The fields of the report `r` that are always small. `FIELDS` has all fields. */
const SMALL_FIELDS = {
  id: jsonPlain(sql`r.id`),
  publicId: jsonString(sql`r.public_id`),
  deploymentId: jsonPlain(sql`r.deployment_id`),
  userId: jsonPlain(sql`r.user_id`),
  createdBy: jsonPlain(sql`coalesce(r.created_by, r.user_id)`),
  refreshedBy: jsonPlain(sql`r.refreshed_by`),
  name: jsonString(sql`r.name`),
  type: jsonString(sql`'REPORT'::text`),
  source: jsonString(sql`r.source`),
  createdAt: jsonTime(sql`r.created_at`),
  updatedAt: jsonTime(sql`r.updated_at`),
  folderId: jsonPlain(sql`r.folder_id`),
  workbookId: jsonPlain(sql`r.workbook_id`),
  version: jsonPlain(sql`r.version`),
};
const FIELDS = {
  ...SMALL_FIELDS,
  title: jsonString(sql`r.title`),
  description: jsonString(sql`r.description`),
  externalWorkbookId: jsonString(sql`r.external_workbook_id`),
  resultLocation: jsonString(sql`r.result_location`),
  endResultCell: jsonString(sql`r.end_result_cell`),
  sqlQuery: jsonString(sql`r.sql_query`),
  jsonQuery: jsonString(sql`r.json_query`),
  pivotItems: jsonPlain(sql`r.pivot_items`),
  meta: jsonPlain(sql`r.meta`),
};

const ALL_FIELDS = jsonFields(FIELDS);
const FEW_FIELDS = jsonFields(SMALL_FIELDS);

/**
 * About how many bytes come before the report `r` in a list of this order. It shows where the page is full, so that the
 * rest need not be read. PostgreSQL knows the length of a text without reading it.
 */
export const bytesBefore = (order: Sql): Sql => sql`coalesce(sum(${BYTES}) over (${order} ${BEFORE}), 0)`;

/** The length of compressed JSON must be computed. Only large values are compressed. */
const jsonBytes = (column: string) => `
  case when pg_column_compression(${column}) is null then pg_column_size(${column}) else octet_length(${column}::text) end`;

const BYTES = raw(
  [
    ...['r.description', 'r.sql_query', 'r.json_query'].map((column) => `octet_length(${column})`),
    ...['r.pivot_items', 'r.meta'].map(jsonBytes),
  ]
    .map((bytes) => `coalesce(${bytes}, 0)`)
    .join(' + '),
);

/** The window frame with all rows before the current one. */
export const BEFORE = raw('rows between unbounded preceding and 1 preceding');

const USER = sql`concat('{', ${jsonFields({
  id: jsonPlain(sql`id`),
  email: jsonString(sql`shown_email`),
  firstName: jsonString(sql`first_name`),
  picture: jsonString(sql`picture`),
})}, '}')`;

const bool = (condition: Sql) => sql`case when ${condition} then 'true' else 'false' end`;

/** The placements of each report on the page, or null if there are none. */
const PLACEMENTS = raw(`
  select jsonb_object_agg(report_id, list) as by_report
  from (select report_id, jsonb_agg(jsonb_build_object('workbookId', external_workbook_id, 'resultLocation', result_location,
                 'endResultCell', end_result_cell) order by created_at, external_workbook_id) as list
        from report_placements where report_id = any(array(select id from page)) group by report_id) p`);

const ON_PAGE = {
  Report: 'select id from page',
  Workbook: 'select workbook_id from page',
  Folder: 'select unnest(path) from page',
};

const OF_ROLES = Object.entries(ON_PAGE).map(
  ([noun, ids]) => `
    select resource_type, resource_id, role_id, action, is_named from resource_policies
    where role_id is not null and resource_type = '${noun}' and resource_id = any(array(${ids}))`,
);

/** The policies of roles on each report, workbook and folder of the page, if the viewer sees the names of the roles. */
const rolePolicies = (viewer: Viewer) => sql`
  select jsonb_object_agg(resource, policies) as by_resource
  from (select concat(resource_type, ':', resource_id) as resource,
               jsonb_agg(jsonb_build_object('id', ro.id, 'name', ro.name, 'action', action) order by ro.id) as policies
        from (${raw(OF_ROLES.join(' union all '))}) p join roles ro on ro.id = p.role_id
        where p.is_named or ${viewer.seesNames}
        group by 1) p`;

/** Each role once, with all actions that it was given on the report, its workbook and the folders above it. */
const ROLES = raw(`
  (select coalesce(json_agg(json_build_object('id', id, 'name', name, 'actions', actions) order by id), '[]')
   from (select (policy->>'id')::bigint as id, policy->>'name' as name,
                json_agg(distinct (policy->>'action') collate "C") as actions
         from unnest(array['Report:' || page.id, 'Workbook:' || workbook_id] || array(select 'Folder:' || id from unnest(path) id))
                as resource,
              jsonb_array_elements((select by_resource from role_policies)->resource) as policy
         group by 1, 2) r)`);

const PAGE_BYTES = raw(String(PAGE_BYTES_MAX));

/**
 * The reports among `rows` on which the viewer has at least this level, in the order of their numbers. The first ones,
 * which fit into the page, are written as JSON. `offset 0` keeps the planner from computing the level again for each use,
 * and from reading all users or folders when it needs only a few. Placements and policies of roles are read once for
 * the whole page.
 *
 * The page ends after a number of bytes. The first query estimates them from the stored lengths, before it reads large
 * fields. If the result is still too large, a second query (`exact`) counts the bytes that were written.
 */
const storedReports = (viewer: Viewer, { rows, least, size, beyond }: ReportSelection, exact: boolean) => sql`
  with page as materialized (
    select * from (
      select r.id, r.key, r.scope_folder_id, r.embed_tenant, ${reportLevel(viewer)} as level, r.workbook_id, f.path, r.n,
        case when r.bytes_before < ${PAGE_BYTES} then concat('{', ${ALL_FIELDS}, ${ROUND_ABOUT},
          ',"folderPath":', ${pathText(sql`f.shown_path`)}) end as head,
        ${beyond === 'short' ? sql`concat('{', ${FEW_FIELDS}, ${ROUND_ABOUT})` : sql`null`} as short
      from (${rows}) r
      left join lateral (select path, shown_path from folders where id = r.scope_folder_id offset 0) f on true
      join lateral (select ${USER} as json from users where id = r.user_id offset 0) u on true
      left join lateral (select ${USER} as json from users where id = r.refreshed_by offset 0) v on true
      offset 0) r
    where level >= ${least}),
  placements as materialized (${PLACEMENTS}),
  role_policies as materialized (${rolePolicies(viewer)})
  select
    concat('[', string_agg(concat('[', concat_ws(',', id, ${jsonElements([
      jsonString(sql`key`),
      jsonPlain(sql`scope_folder_id`),
      jsonString(sql`embed_tenant`),
      jsonPlain(sql`level`),
    ])}, ${bool(isItem(size))}), ']'), ',' order by n), ']') as reports,
    concat('[', string_agg(concat(
      case when fits then concat(head,
        ',"externalWorkbookPlacements":', ${PLACED},
        ',"rolesWithAccess":', case when ${showsRoles(viewer)} and (select by_resource from role_policies) is not null
                               then ${ROLES} else '[]' end)
      else short end,
      ',"canEdit":', ${bool(sql`level >= ${EDIT}`)}, ',"canManage":', ${bool(sql`level >= ${MANAGE}`)}, '}'), ',' order by n)
      filter (where ${isItem(size)}), ']') as items
  from (select *, head is not null ${exact ? sql`and ${written} < ${PAGE_BYTES}` : sql``} as fits from page) page`;

const PLACED = raw(`coalesce((select by_report from placements)->page.id::text, '[]')`);

/** The number of bytes that were written before the report. */
const written = sql`
  coalesce(sum(octet_length(head) + octet_length(${PLACED}::text)) over (order by n ${BEFORE}), 0)`;

const ROUND_ABOUT = raw(`',"user":', u.json, ',"refreshedByUser":', coalesce(v.json, u.json)`);

const isItem = (size: number) => sql`(n <= ${size} and (fits or short is not null))`;

/** External users do not see the roles of the account. */
const showsRoles = (viewer: Viewer) => sql`${!viewer.isExternal}::boolean`;

interface ReportSelection {
  /** Selects reports `r` with a `key`, a number `n` in their order, and `bytes_before`. */
  rows: Sql;
  least: Level;
  /** How many reports are written as JSON at most. */
  size: number;
  /** Reports that do not fit into the page are left out (`nothing`), or have no larger fields (`short`). */
  beyond: 'nothing' | 'short';
}

/**
 * Always uses a prepared statement, because planning takes as long as reading a page. The name must differ for each SQL
 * text of `rows`.
 */
export async function findStoredReportsOf(
  db: Queryable,
  viewer: Viewer,
  { name, ...wanted }: ReportSelection & { name: string },
): Promise<StoredReports> {
  const read = async (exact: boolean) => {
    const how = `${wanted.beyond}${exact ? '-exact' : ''}-${levelShape(viewer, 'Report')}`;
    const query = storedReports(viewer, wanted, exact).named(`${name}-${how}`);
    const { reports, items } = await db.one<Record<keyof StoredReports, string>>(query);
    return { reports: JSON.parse(reports), items };
  };
  const found = await read(false);
  // Counting the written bytes would make every page slower. So only a page that is too large is written twice.
  return Buffer.byteLength(found.items) > PAGE_BYTES_MAX ? read(true) : found;
}

/**
 * The reports with these ids on which the viewer has at least this level, in the order of the ids. The ids are hidden
 * from the planner, because otherwise it would make a new plan each time that they are few.
 */
export const findStoredReports = (
  db: Queryable,
  viewer: Viewer,
  ids: readonly number[],
  least: Level,
  beyond: ReportSelection['beyond'] = 'nothing',
) =>
  findStoredReportsOf(db, viewer, {
    rows: sql`
      select r.*, null as key, wanted.n, ${bytesBefore(raw('order by wanted.n'))} as bytes_before
      from (select * from unnest(${ids}::bigint[]) with ordinality offset 0) wanted (id, n)
      join reports r on r.id = wanted.id and r.deployment_id = ${viewer.deploymentId}`,
    least,
    size: ids.length,
    beyond,
    name: 'find-reports',
  });

/** Finds the report with this public id. Nobody else can change or delete it until the transaction ends. */
export const lockPublicId = async (tx: Tx, publicId: string) =>
  await tx.maybeOne<{ id: number }>(sql`select id from reports where public_id = ${publicId} for update`);

/** Nobody else can change the report until the transaction ends. */
export const lockReport = (tx: Tx, id: number) =>
  tx.run(sql`select from reports where id = ${id} for update`);

const refuseOversize = refusing({
  ...CONTENT_REFUSALS,
  reports_name_max_4_kb: tooLarge('name', 4),
  reports_title_max_4_kb: tooLarge('title', 4),
  reports_description_max_40_kb: tooLarge('description', 40),
  reports_external_workbook_id_max_2_kb: tooLarge('externalWorkbookId', 2),
  reports_result_location_max_4_kb: tooLarge('resultLocation', 4),
  reports_end_result_cell_max_4_kb: tooLarge('endResultCell', 4),
  reports_sql_query_max_256_kb: tooLarge('sqlQuery', 256),
  reports_json_query_max_256_kb: tooLarge('jsonQuery', 256),
  reports_pivot_items_max_128_kb: tooLarge('pivotItems', 128),
  reports_meta_max_128_kb: tooLarge('meta', 128),
  report_placements_external_workbook_id_max_1_kb: tooLarge('externalWorkbookId', 1),
  report_placements_result_location_max_1_kb: tooLarge('resultLocation', 1),
  report_placements_end_result_cell_max_1_kb: tooLarge('endResultCell', 1),
});

/** Returns nothing if the public id is taken. */
export const insertReport = async (
  tx: Tx,
  report: ReportFields & ReportPlace & { deploymentId: number; publicId: string; userId: number },
) =>
  (
    await tx
      .maybeOne<{ id: number }>(sql`
      insert into reports (deployment_id, public_id, folder_id, workbook_id, scope_folder_id, name, name_key, title, description,
        search_text, source, external_workbook_id, result_location, end_result_cell, sql_query, json_query, pivot_items, meta,
        embed_tenant, user_id, created_by)
      values (${report.deploymentId}, ${report.publicId}, ${report.folderId}, ${report.workbookId}, ${report.scopeFolderId},
        ${report.name}, ${nameKey(report.name)}, ${report.title}, ${report.description}, ${searchText(report)}, ${report.source},
        ${report.externalWorkbookId}, ${report.resultLocation}, ${report.endResultCell}, ${report.sqlQuery}, ${report.jsonQuery},
        ${json(report.pivotItems)}, ${json(report.meta)}, ${report.embedTenant}, ${report.userId}, ${report.userId})
      on conflict (public_id) do nothing returning id`)
      .catch(refuseOversize)
  )?.id;

/** Returns whether anything has changed. If not, the version stays the same. */
export async function updateReport(tx: Tx, report: ReportFields & ReportPlace & { id: number }) {
  const columns =
    raw(`folder_id, workbook_id, scope_folder_id, name, name_key, title, description, search_text, source,
    external_workbook_id, result_location, end_result_cell, sql_query, json_query, pivot_items, meta`);
  const values = sql`${report.folderId}::bigint, ${report.workbookId}::bigint, ${report.scopeFolderId}::bigint, ${report.name},
    ${nameKey(report.name)}, ${report.title}, ${report.description}, ${searchText(report)}, ${report.source},
    ${report.externalWorkbookId}, ${report.resultLocation}, ${report.endResultCell}, ${report.sqlQuery}, ${report.jsonQuery},
    ${json(report.pivotItems)}::jsonb, ${json(report.meta)}::jsonb`;
  const changed = await tx
    .run(sql`
    update reports set (${columns}) = (select ${values}), version = version + 1, updated_at = now()
    where id = ${report.id} and (${columns}) is distinct from (${values})`)
    .catch(refuseOversize);
  return changed === 1;
}

export const deleteReport = (tx: Tx, id: number) => tx.run(sql`delete from reports where id = ${id}`);

/**
 * A report that is deleted but not removed yet does not keep its public id. Returns whether there was such a report.
 */
export const deleteRemovedReport = async (tx: Tx, publicId: string) =>
  (await tx.run(sql`delete from reports r where public_id = ${publicId} and ${isRemoved('r')}`)) === 1;

/** Returns whether anything has changed. */
export const upsertPlacement = async (
  tx: Tx,
  reportId: number,
  placement: { externalWorkbookId: string; resultLocation: string; endResultCell: string | null },
) =>
  (await tx
    .run(sql`
    insert into report_placements as p (report_id, external_workbook_id, result_location, end_result_cell)
    values (${reportId}, ${placement.externalWorkbookId}, ${placement.resultLocation}, ${placement.endResultCell})
    on conflict (report_id, external_workbook_id)
    do update set result_location = excluded.result_location, end_result_cell = excluded.end_result_cell
    where (p.result_location, p.end_result_cell) is distinct from (excluded.result_location, excluded.end_result_cell)`)
    .catch(refuseOversize)) === 1;

export const countPlacements = async (tx: Tx, reportId: number) =>
  (
    await tx.one<{ count: number }>(sql`
      select count(*) from report_placements where report_id = ${reportId}`)
  ).count;

/**
 * The place of a report that is put into this workbook. Nobody can move the workbook until the transaction ends. Returns
 * nothing if the viewer cannot read the workbook.
 */
export async function lockWorkbookPlace(tx: Tx, viewer: Viewer, id: number) {
  await tx.run(sql`select from workbooks where id = ${id} for update`);
  return tx.maybeOne<{ folderId: number | null; embedTenant: string | null; level: Level }>(sql`
    select * from (
      select w.folder_id as "folderId", w.embed_tenant as "embedTenant", ${workbookLevel(viewer)} as level
      from workbooks w left join folders f on f.id = w.folder_id
      where w.deployment_id = ${viewer.deploymentId} and w.id = ${id} offset 0) w
    where level >= ${READ}`);
}

/** Whether the workbook has as many reports as it may have. Exact while the workbook is locked. */
export const isFull = async (tx: Tx, workbookId: number) =>
  (
    await tx.one<{ full: boolean }>(sql`
      select count(*) >= ${limits.reportsInWorkbook} as full
      from (select from reports where workbook_id = ${workbookId} limit ${limits.reportsInWorkbook}) r`)
  ).full;

export const noteView = (db: Queryable, userId: number, reportId: number) =>
  db.run(sql`
    insert into report_views (user_id, report_id, viewed_at) values (${userId}, ${reportId}, now())
    on conflict (user_id, report_id) do update set viewed_at = excluded.viewed_at`);

/** Policies on the folder of a workbook also reach the reports in the workbook. */
export const moveReportsOfWorkbook = (tx: Tx, workbookId: number, folderId: number | null) =>
  tx.run(sql`
    update reports set scope_folder_id = ${folderId}::bigint
    where workbook_id = ${workbookId} and scope_folder_id is distinct from ${folderId}::bigint`);

/** Copies reports into another workbook. This user owns the copies. */
export const copyReports = (
  tx: Tx,
  copies: { ids: number[]; publicIds: string[]; workbookId: number; folderId: number | null; userId: number },
) =>
  tx
    .many<{ id: number; publicId: string }>(sql`
    insert into reports (deployment_id, public_id, workbook_id, scope_folder_id, name, name_key, title, description, search_text,
      source, result_location, end_result_cell, sql_query, json_query, pivot_items, meta, embed_tenant, user_id, created_by)
    select r.deployment_id, c.public_id, ${copies.workbookId}, ${copies.folderId}::bigint, r.name, r.name_key, r.title, r.description,
      r.search_text, r.source, r.result_location, r.end_result_cell, r.sql_query, r.json_query, r.pivot_items, r.meta,
      r.embed_tenant, ${copies.userId}, ${copies.userId}
    from unnest(${copies.ids}::bigint[], ${copies.publicIds}::text[]) as c (id, public_id) join reports r on r.id = c.id
    order by r.id
    returning id, public_id as "publicId"`)
    .catch(refuseOversize);

/** Records a refresh. It is no new version of the report, because its editors have nothing to take over. */
export const noteRefresh = (tx: Tx, reportId: number, userId: number) =>
  tx.run(sql`update reports set refreshed_by = ${userId}, refreshed_at = now() where id = ${reportId}`);
