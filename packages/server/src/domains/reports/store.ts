import type { Queryable, Tx } from '../../platform/db/database.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import {
  EDIT,
  isRemoved,
  type Level,
  levelShape,
  MANAGE,
  READ,
  reportLevel,
  type Viewer,
} from '../access/index.ts';
import { nameKey, pathText } from '../folders/index.ts';
import { searchText } from './rules.ts';

/** What a caller can set. */
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

export interface Place {
  folderId: number | null;
  workbookId: number | null;
  /** The folder whose policies reach the report: its own, or that of its workbook. */
  scopeFolderId: number | null;
  embedTenant: string | null;
}

/** What of a report is only for us to know. */
export type StoredReport = [
  id: number,
  /** Its place in the list that it was read with. */
  key: string | null,
  scopeFolderId: number | null,
  embedTenant: string | null,
  level: Level,
];

export interface StoredReports {
  reports: StoredReport[];
  /**
   * The reports as callers see them: the text of a JSON list. Written by the database, because reading forty columns
   * of each row and writing them out again is most of what a page would cost.
   */
  items: string;
}

/** SQL that writes a column as JSON. */
const text = (column: string) => `coalesce(to_json(${column}), 'null')`;
const plain = (column: string) => `coalesce(${column}::text, 'null')`;
const time = (column: string) =>
  `to_char(${column} at time zone 'UTC', '"\\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\\""')`;

/** Field by field: what writes whole rows as JSON looks up their types at each row, which takes longer than writing. */
const fields = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([name, value], i) => `'${i ? ',' : ''}"${name}":', ${value}`)
    .join();

/** Of the report `r`. */
const OWN_FIELDS = raw(
  fields({
    id: 'r.id',
    publicId: text('r.public_id'),
    deploymentId: 'r.deployment_id',
    userId: 'r.user_id',
    createdBy: 'coalesce(r.created_by, r.user_id)',
    refreshedBy: plain('r.refreshed_by'),
    name: text('r.name'),
    title: text('r.title'),
    description: text('r.description'),
    type: `'"REPORT"'`,
    source: text('r.source'),
    createdAt: time('r.created_at'),
    updatedAt: time('r.updated_at'),
    folderId: plain('r.folder_id'),
    workbookId: plain('r.workbook_id'),
    externalWorkbookId: text('r.external_workbook_id'),
    resultLocation: text('r.result_location'),
    endResultCell: text('r.end_result_cell'),
    sqlQuery: text('r.sql_query'),
    jsonQuery: text('r.json_query'),
    pivotItems: plain('r.pivot_items'),
    meta: plain('r.meta'),
    version: 'r.version',
  }),
);

const USER = raw(
  `concat('{', ${fields({
    id: 'id',
    email: text('shown_email'),
    firstName: text('first_name'),
    picture: text('picture'),
  })}, '}')`,
);

const bool = (condition: Sql) => sql`case when ${condition} then 'true' else 'false' end`;

/** Where the page has placements, those of each report. */
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

/** Where roles were given anything on the page, that of each report, workbook and folder, if the viewer sees the name. */
const rolePolicies = (viewer: Viewer) => sql`
  select jsonb_object_agg(resource, policies) as by_resource
  from (select concat(resource_type, ':', resource_id) as resource,
               jsonb_agg(jsonb_build_object('id', ro.id, 'name', ro.name, 'action', action) order by ro.id) as policies
        from (${raw(OF_ROLES.join(' union all '))}) p join roles ro on ro.id = p.role_id
        where p.is_named or ${viewer.seesNames}
        group by 1) p`;

/** Each role once, with all that it was given on the report or above it. */
const ROLES = raw(`
  (select coalesce(json_agg(json_build_object('id', id, 'name', name, 'actions', actions) order by id), '[]')
   from (select (policy->>'id')::bigint as id, policy->>'name' as name,
                json_agg(distinct (policy->>'action') collate "C") as actions
         from unnest(array['Report:' || page.id, 'Workbook:' || workbook_id] || array(select 'Folder:' || id from unnest(path) id))
                as resource,
              jsonb_array_elements((select by_resource from role_policies)->resource) as policy
         group by 1, 2) r)`);

/**
 * Of the reports `rows`, with a `key`, those that the viewer has at least that level on, in that order; of them, the
 * first are written out. `offset 0` keeps the planner from working out the level once for each place that asks for
 * it, and from reading all users or folders for the few that are around. Placements and policies of roles are looked
 * up once for the whole page.
 */
const storedReports = (viewer: Viewer, { rows, order, least, size }: Wanted) => sql`
  with page as materialized (
    select * from (
      select r.id, r.key, r.scope_folder_id, r.embed_tenant, ${reportLevel(viewer)} as level, r.workbook_id, f.path, r.n,
        concat('{', ${OWN_FIELDS}, ',"user":', u.json, ',"refreshedByUser":', coalesce(v.json, u.json),
               ',"folderPath":', ${pathText(sql`f.shown_path`)}) as head
      from (${rows}) r
      left join lateral (select path, shown_path from folders where id = r.scope_folder_id offset 0) f on true
      join lateral (select ${USER} as json from users where id = r.user_id offset 0) u on true
      left join lateral (select ${USER} as json from users where id = r.refreshed_by offset 0) v on true
      ${order} offset 0) r
    where level >= ${least}),
  placements as materialized (${PLACEMENTS}),
  role_policies as materialized (${rolePolicies(viewer)})
  select
    concat('[', string_agg(concat('[', concat_ws(',', id, ${raw(
      [text('key'), plain('scope_folder_id'), text('embed_tenant'), 'level'].join(),
    )}), ']'), ','), ']') as reports,
    concat('[', string_agg(concat(head,
      ',"externalWorkbookPlacements":', coalesce((select by_report from placements)->page.id::text, '[]'),
      ',"rolesWithAccess":', case when ${showsRoles(viewer)} and (select by_resource from role_policies) is not null
                             then ${ROLES} else '[]' end,
      ',"canEdit":', ${bool(sql`level >= ${EDIT}`)}, ',"canManage":', ${bool(sql`level >= ${MANAGE}`)}, '}'), ',')
      filter (where n <= ${size}), ']') as items
  from page`;

/** Who is external is told nothing of the account's roles. */
const showsRoles = (viewer: Viewer) => sql`${!viewer.isExternal}::boolean`;

interface Wanted {
  /** Selects reports `r` with a `key` and a number `n`. */
  rows: Sql;
  order: Sql;
  least: Level;
  /** How many are written out. */
  size: number;
}

/**
 * Reports with a `key`, in that order. Always prepared, because planning takes as long as reading a page: the name
 * stands for the text of `rows` and `order`.
 */
export async function findStoredReportsOf(
  db: Queryable,
  viewer: Viewer,
  { name, ...wanted }: Wanted & { name: string },
): Promise<StoredReports> {
  const query = storedReports(viewer, wanted).named(`${name}-${levelShape(viewer, 'Report')}`);
  const { reports, items } = await db.one<Record<keyof StoredReports, string>>(query);
  return { reports: JSON.parse(reports), items };
}

/**
 * The reports with these ids that the viewer has at least that level on, in the order of the ids. The planner does not
 * get to see the ids, or it would plan anew each time that they are few.
 */
export const findStoredReports = (db: Queryable, viewer: Viewer, ids: readonly number[], least: Level) =>
  findStoredReportsOf(db, viewer, {
    rows: sql`
      select r.*, null as key, wanted.n from (select * from unnest(${ids}::bigint[]) with ordinality offset 0) wanted (id, n)
      join reports r on r.id = wanted.id and r.deployment_id = ${viewer.deploymentId}`,
    order: raw('order by r.n'),
    least,
    size: ids.length,
    name: 'find-reports',
  });

export const findStoredReportByPublicId = (db: Queryable, viewer: Viewer, publicId: string) =>
  findStoredReportsOf(db, viewer, {
    rows: sql`
      select r.*, null as key, 1 as n from reports r
      where r.deployment_id = ${viewer.deploymentId} and r.public_id = ${publicId}`,
    order: raw(''),
    least: READ,
    size: 1,
    name: 'find-report-by-public-id',
  });

/** Keeps others from changing the report until the end of the transaction. */
export const lockReport = (tx: Tx, id: number) =>
  tx.run(sql`select from reports where id = ${id} for update`);

const json = (value: object | null) => (value === null ? null : JSON.stringify(value));

/** Nothing where the public id is taken. */
export const insertReport = async (
  tx: Tx,
  report: ReportFields & Place & { deploymentId: number; publicId: string; userId: number },
) =>
  (
    await tx.maybeOne<{ id: number }>(sql`
      insert into reports (deployment_id, public_id, folder_id, workbook_id, scope_folder_id, name, name_key, title, description,
        search_text, source, external_workbook_id, result_location, end_result_cell, sql_query, json_query, pivot_items, meta,
        embed_tenant, user_id, created_by)
      values (${report.deploymentId}, ${report.publicId}, ${report.folderId}, ${report.workbookId}, ${report.scopeFolderId},
        ${report.name}, ${nameKey(report.name)}, ${report.title}, ${report.description}, ${searchText(report)}, ${report.source},
        ${report.externalWorkbookId}, ${report.resultLocation}, ${report.endResultCell}, ${report.sqlQuery}, ${report.jsonQuery},
        ${json(report.pivotItems)}, ${json(report.meta)}, ${report.embedTenant}, ${report.userId}, ${report.userId})
      on conflict (public_id) do nothing returning id`)
  )?.id;

export const updateReport = (tx: Tx, report: ReportFields & Place & { id: number; publicId: string }) =>
  tx.run(sql`
    update reports set public_id = ${report.publicId}, folder_id = ${report.folderId}, workbook_id = ${report.workbookId},
      scope_folder_id = ${report.scopeFolderId}, name = ${report.name}, name_key = ${nameKey(report.name)}, title = ${report.title},
      description = ${report.description}, search_text = ${searchText(report)}, source = ${report.source},
      external_workbook_id = ${report.externalWorkbookId}, result_location = ${report.resultLocation},
      end_result_cell = ${report.endResultCell}, sql_query = ${report.sqlQuery}, json_query = ${report.jsonQuery},
      pivot_items = ${json(report.pivotItems)}, meta = ${json(report.meta)}, version = version + 1, updated_at = now()
    where id = ${report.id}`);

export const deleteReport = (tx: Tx, id: number) => tx.run(sql`delete from reports where id = ${id}`);

/** Answers whether there was one with this public id that is deleted and was not removed yet. */
export const deleteRemovedReport = async (tx: Tx, publicId: string) =>
  (await tx.run(sql`delete from reports r where public_id = ${publicId} and ${isRemoved('r')}`)) === 1;

export const upsertPlacement = (
  tx: Tx,
  reportId: number,
  placement: { externalWorkbookId: string; resultLocation: string; endResultCell: string | null },
) =>
  tx.run(sql`
    insert into report_placements (report_id, external_workbook_id, result_location, end_result_cell)
    values (${reportId}, ${placement.externalWorkbookId}, ${placement.resultLocation}, ${placement.endResultCell})
    on conflict (report_id, external_workbook_id)
    do update set result_location = excluded.result_location, end_result_cell = excluded.end_result_cell`);

export const noteView = (db: Queryable, userId: number, reportId: number) =>
  db.run(sql`
    insert into report_views (user_id, report_id, viewed_at) values (${userId}, ${reportId}, now())
    on conflict (user_id, report_id) do update set viewed_at = excluded.viewed_at`);
