import type { Action } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import {
  type Level,
  levelShape,
  type Noun,
  ownerOf,
  READ,
  reportLevel,
  type Viewer,
} from '../access/index.ts';
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

/** A report as its tables hold it, with the viewer's level. See read.ts for the report as callers see it. */
export interface StoredReport extends Place {
  id: number;
  userId: number;
  /** Who refreshed it last, or its owner. */
  refresherId: number;
  /** The ids of the folders from the root to the containing one. */
  path: number[] | null;
  level: Level;
  /**
   * What callers see of its own fields, as the text of a JSON object. Written by the database, because reading forty
   * columns of each row and writing them out again is most of what a page would cost.
   */
  wire: string;
}

const isoTime = (column: string) =>
  sql`to_char(${raw(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Of the report `r`, reached through the folder `f`. */
const columns = (viewer: Viewer): Sql => sql`
  r.id, r.user_id as "userId", coalesce(r.refreshed_by, r.user_id) as "refresherId",
  r.folder_id as "folderId", r.workbook_id as "workbookId", r.scope_folder_id as "scopeFolderId",
  r.embed_tenant as "embedTenant", to_json(f.path) as path, ${reportLevel(viewer)} as level,
  (select row_to_json(w)::text from (
     select r.id, r.public_id as "publicId", r.deployment_id as "deploymentId", r.user_id as "userId",
       coalesce(r.created_by, r.user_id) as "createdBy", r.refreshed_by as "refreshedBy", r.name, r.title, r.description, 'REPORT' as type, r.source,
       ${isoTime('r.created_at')} as "createdAt", ${isoTime('r.updated_at')} as "updatedAt",
       r.folder_id as "folderId", r.workbook_id as "workbookId", r.external_workbook_id as "externalWorkbookId",
       r.result_location as "resultLocation", r.end_result_cell as "endResultCell", r.sql_query as "sqlQuery",
       r.json_query as "jsonQuery", r.pivot_items as "pivotItems", r.meta, r.version) w) as wire`;

const FROM = sql`
  reports r left join folders f on f.id = r.scope_folder_id`;

/** `offset 0` keeps the planner from working out the level once for each place that asks for it. */
const findWhere = (viewer: Viewer, condition: Sql, least: Level) => sql`
  select * from (select ${columns(viewer)} from ${FROM}
                 where r.deployment_id = ${viewer.deploymentId} and ${condition} offset 0) r
  where level >= ${least}`;

/** The reports with these ids that the viewer has at least that level on, in no particular order. */
export const findStoredReports = (db: Queryable, viewer: Viewer, ids: readonly number[], least: Level) =>
  db.many<StoredReport>(
    findWhere(viewer, sql`r.id = any(${ids}::bigint[])`, least).named(
      `find-reports-${levelShape(viewer, 'Report')}`,
    ),
  );

export const findStoredReportByPublicId = (db: Queryable, viewer: Viewer, publicId: string) =>
  db.many<StoredReport>(findWhere(viewer, sql`r.public_id = ${publicId}`, READ));

export interface Surroundings {
  users: { id: number; email: string; firstName: string | null; picture: string | null }[];
  /** Names of folders by their ids. */
  folders: Record<string, string> | null;
  placements:
    | { reportId: number; workbookId: string; resultLocation: string; endResultCell: string | null }[]
    | null;
  rolePolicies:
    | { resourceType: Noun; resourceId: number; roleId: number; roleName: string; action: Action }[]
    | null;
}

/** What lies around reports, read once for all of them. */
export const findSurroundings = (
  db: Queryable,
  {
    reportIds,
    workbookIds,
    folderIds,
    userIds,
  }: Record<'reportIds' | 'workbookIds' | 'folderIds' | 'userIds', number[]>,
) =>
  db.one<Surroundings>(
    sql`select
      (select json_agg(${ownerOf('u')}) from users u where u.id = any(${userIds}::bigint[])) as users,
      (select json_object_agg(id, name) from folders where id = any(${folderIds}::bigint[])) as folders,
      (select json_agg(json_build_object('reportId', report_id, 'workbookId', external_workbook_id,
                'resultLocation', result_location, 'endResultCell', end_result_cell) order by created_at, external_workbook_id)
       from report_placements where report_id = any(${reportIds}::bigint[])) as placements,
      (select json_agg(json_build_object('resourceType', p.resource_type, 'resourceId', p.resource_id,
                'roleId', ro.id, 'roleName', ro.name, 'action', p.action) order by ro.id)
       from (select * from resource_policies where role_id is not null and resource_type = 'Report' and resource_id = any(${reportIds}::bigint[])
             union all
             select * from resource_policies where role_id is not null and resource_type = 'Workbook' and resource_id = any(${workbookIds}::bigint[])
             union all
             select * from resource_policies where role_id is not null and resource_type = 'Folder' and resource_id = any(${folderIds}::bigint[])) p
       join roles ro on ro.id = p.role_id) as "rolePolicies"`.named('find-report-surroundings'),
  );

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
