/** Content that names members, in pages by id. `isReadable` says whether the viewer may know of it. */
import type { Queryable } from '../../platform/db/database.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import {
  EDIT,
  isPresent,
  isPublished,
  type Level,
  READ,
  reportLevel,
  type Viewer,
  workbookLevel,
} from '../access/index.ts';

export interface ReportRow {
  id: number;
  name: string;
  workbookId: number | null;
  jsonQuery: string;
  isOfTenant: boolean;
  isReadable: boolean;
}

const readable = (level: Sql, least: Level = READ) => sql`coalesce(${level} >= ${least}, false)`;

/** The next reports that have a query. Without a viewer, none of them counts as readable. */
export const listReportQueries = (
  db: Queryable,
  deploymentId: number,
  viewer: Viewer | null,
  after: number,
  limit: number,
) =>
  db.many<ReportRow>(sql`
    select r.id, r.name, r.workbook_id as "workbookId", r.json_query as "jsonQuery",
      r.embed_tenant is not null as "isOfTenant",
      ${viewer ? readable(reportLevel(viewer)) : sql`false`} as "isReadable"
    from reports r left join folders f on f.id = r.scope_folder_id
    where r.deployment_id = ${deploymentId} and r.id > ${after} and r.json_query is not null and ${isPresent('r')}
    order by r.id limit ${limit}`);

export interface DraftRow {
  id: number;
  name: string;
  config: object;
  isReadable: boolean;
}

/**
 * The next workbooks that have a draft of a dashboard with widgets. Readable only for viewers who may edit the draft.
 */
export const listDrafts = (
  db: Queryable,
  deploymentId: number,
  viewer: Viewer,
  after: number,
  limit: number,
) =>
  db.many<DraftRow>(sql`
    select w.id, w.name, jsonb_build_object('widgets', w.dashboard_draft->'widgets') as config,
      ${readable(workbookLevel(viewer), EDIT)} as "isReadable"
    from workbooks w left join folders f on f.id = w.folder_id
    where w.deployment_id = ${deploymentId} and w.id > ${after} and w.dashboard_draft is not null
      and not w.draft_is_app and ${isPresent('w')}
    order by w.id limit ${limit}`);

export interface PublishedRow {
  id: number;
  workbookId: number;
  name: string;
  config: object;
  queries: unknown[];
  isReadable: boolean;
}

/** The next dashboards that viewers see, with the queries that they were published with. */
export const listPublished = (
  db: Queryable,
  deploymentId: number,
  viewer: Viewer,
  after: number,
  limit: number,
) =>
  db.many<PublishedRow>(sql`
    select d.id, w.id as "workbookId", w.name, jsonb_build_object('widgets', v.config->'widgets') as config,
      jsonb_path_query_array(v.snapshots, '$[*].query') as queries,
      ${readable(workbookLevel(viewer))} as "isReadable"
    from dashboards d join workbooks w on w.id = d.workbook_id left join folders f on f.id = w.folder_id
    join dashboard_versions v on v.dashboard_id = d.id and v.number = d.version_number
    where w.deployment_id = ${deploymentId} and d.id > ${after} and ${isPublished} and ${isPresent('w')}
    order by d.id limit ${limit}`);

export interface ScheduleRow {
  id: number;
  name: string | null;
  dashboardId: number;
  isEnabled: boolean;
}

/** The schedules of these dashboards. */
export const listSchedules = (db: Queryable, dashboardIds: readonly number[], limit: number) =>
  db.many<ScheduleRow>(sql`
    select n.id, n.name, n.dashboard_id as "dashboardId", n.is_enabled as "isEnabled"
    from notifications n where n.dashboard_id = any(${[...dashboardIds]}::bigint[]) order by n.id limit ${limit}`);
