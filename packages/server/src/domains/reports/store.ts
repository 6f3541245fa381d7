import type { Action } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import { type Level, levelShape, type Noun, READ, reportLevel, type Viewer } from '../access/index.ts';
import { nameKey } from '../folders/index.ts';
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

/** What of a report is needed to write it out, or is only for us to know. */
export type StoredReport = [
  id: number,
  /** Its place in the list that it was read with. */
  key: string | null,
  workbookId: number | null,
  embedTenant: string | null,
  level: Level,
  /** The ids of the folders from the root to the containing one. */
  path: number[] | null,
  folderName: string | null,
];

/**
 * Reports as the tables hold them, and what lies around them. All in one row, with texts for lines: that is far less
 * work for both sides than a row for each report. See read.ts for how callers see them.
 */
export interface StoredReports {
  reports: StoredReport[];
  /**
   * What callers see of the fields of each report, as the text of a JSON object that is still open. Written by the
   * database, because reading forty columns of each row and writing them out again is most of what a page would cost.
   */
  wires: string[];
  /** Who owns each, as JSON. */
  owners: string[];
  /** Who refreshed each last, as JSON, or nothing. */
  refreshers: string[];
  /** The folders above the containing ones. */
  folders: [id: number, name: string][];
  placements: {
    reportId: number;
    workbookId: string;
    resultLocation: string;
    endResultCell: string | null;
  }[];
  /** On the reports, their workbooks and folders. */
  rolePolicies: {
    resourceType: Noun;
    resourceId: number;
    roleId: number;
    roleName: string;
    action: Action;
  }[];
}

/** SQL that writes a column as JSON. */
const text = (column: string) => `coalesce(to_json(${column}), 'null')`;
const plain = (column: string) => `coalesce(${column}::text, 'null')`;
const time = (column: string) =>
  `to_char(${column} at time zone 'UTC', '"\\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\\""')`;

/** Field by field: what writes whole rows as JSON looks up their types at each row, which takes longer than writing. */
const fields = (values: Record<string, string>, end: '' | '}') =>
  `concat(${Object.entries(values)
    .map(([name, value], i) => `'${i ? ',' : '{'}"${name}":', ${value}`)
    .join()}, '${end}')`;

const lines = (value: Sql) => sql`coalesce(string_agg(${value}, E'\\n'), '')`;
const tuples = (values: string[]) =>
  raw(`concat('[', string_agg(concat('[', concat_ws(',', ${values.join()}), ']'), ','), ']')`);

/** Of the report `r`. */
const WIRE = raw(
  fields(
    {
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
    },
    '',
  ),
);

const owner = (user: string) =>
  raw(
    fields(
      {
        id: `${user}.id`,
        email: text(`${user}.shown_email`),
        firstName: text(`${user}.first_name`),
        picture: text(`${user}.picture`),
      },
      '}',
    ),
  );

/** As `StoredReport` has them. */
const REPORTS = tuples([
  'id',
  text('key'),
  plain('workbook_id'),
  text('embed_tenant'),
  'level',
  text('path'),
  text('folder_name'),
]);

const rolePolicies = (noun: Noun, ids: Sql) => sql`
  select resource_type, resource_id, role_id, action from resource_policies
  where role_id is not null and resource_type = ${raw(`'${noun}'`)} and resource_id = any(array(${ids}))`;

/**
 * Of the reports `rows`, with a `key`, those that the viewer has at least that level on, in that order. `offset 0`
 * keeps the planner from working out the level once for each place that asks for it, and from reading all users or
 * folders for the few that are around.
 */
const storedReports = (viewer: Viewer, rows: Sql, order: Sql, least: Level) => sql`
  with page as materialized (
    select * from (
      select r.id, r.key, r.workbook_id, r.embed_tenant, ${reportLevel(viewer)} as level, f.path, f.name as folder_name,
        ${WIRE} as wire, ${owner('u')} as owner, case when v.id is null then '' else ${owner('v')} end as refresher
      from (${rows}) r
      left join lateral (select path, name from folders where id = r.scope_folder_id offset 0) f on true
      join lateral (select * from users where id = r.user_id offset 0) u on true
      left join lateral (select * from users where id = r.refreshed_by offset 0) v on true
      ${order} offset 0) r
    where level >= ${least})
  select ${REPORTS} as reports, ${lines(raw('wire'))} as wires, ${lines(raw('owner'))} as owners,
    ${lines(raw('refresher'))} as refreshers,
    (select ${tuples(['id', text('name')])} from folders
     where id = any(array(select unnest(trim_array(path, 1)) from page))) as folders,
    (select json_agg(json_build_object('reportId', report_id, 'workbookId', external_workbook_id,
              'resultLocation', result_location, 'endResultCell', end_result_cell) order by created_at, external_workbook_id)
     from report_placements where report_id = any(array(select id from page))) as placements,
    (select json_agg(json_build_object('resourceType', p.resource_type, 'resourceId', p.resource_id,
              'roleId', ro.id, 'roleName', ro.name, 'action', p.action) order by ro.id)
     from (${rolePolicies('Report', sql`select id from page`)}
           union all ${rolePolicies('Workbook', sql`select workbook_id from page`)}
           union all ${rolePolicies('Folder', sql`select unnest(path) from page`)}) p
     join roles ro on ro.id = p.role_id) as "rolePolicies"
  from page`;

/**
 * Reports with a `key`, in that order. Always prepared, because planning takes as long as reading a page: the name
 * stands for the text of `rows` and `order`.
 */
export async function findStoredReportsOf(
  db: Queryable,
  viewer: Viewer,
  { rows, order, least, name }: { rows: Sql; order: Sql; least: Level; name: string },
): Promise<StoredReports> {
  const row = await db.one<
    Record<'reports' | 'wires' | 'owners' | 'refreshers' | 'folders', string> & {
      [List in 'placements' | 'rolePolicies']: StoredReports[List] | null;
    }
  >(storedReports(viewer, rows, order, least).named(`${name}-${levelShape(viewer, 'Report')}`));
  return {
    reports: JSON.parse(row.reports),
    wires: row.wires.split('\n'),
    owners: row.owners.split('\n'),
    refreshers: row.refreshers.split('\n'),
    folders: JSON.parse(row.folders),
    placements: row.placements ?? [],
    // Who is external is told nothing of the account's roles.
    rolePolicies: viewer.isExternal ? [] : (row.rolePolicies ?? []),
  };
}

const findWhere = (db: Queryable, viewer: Viewer, condition: Sql, least: Level, name: string) =>
  findStoredReportsOf(db, viewer, {
    rows: sql`select r.*, null as key from reports r where r.deployment_id = ${viewer.deploymentId} and ${condition}`,
    order: raw(''),
    least,
    name,
  });

/**
 * The reports with these ids that the viewer has at least that level on, in no particular order. The planner does not
 * get to see the ids, or it would plan anew each time that they are few.
 */
export const findStoredReports = (db: Queryable, viewer: Viewer, ids: readonly number[], least: Level) =>
  findWhere(db, viewer, sql`r.id = any(array(select unnest(${ids}::bigint[])))`, least, 'find-reports');

export const findStoredReportByPublicId = (db: Queryable, viewer: Viewer, publicId: string) =>
  findWhere(db, viewer, sql`r.public_id = ${publicId}`, READ, 'find-report-by-public-id');

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
