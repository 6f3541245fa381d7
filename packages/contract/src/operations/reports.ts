import { Type } from 'typebox';
import {
  embedTenantName,
  ListResponse,
  Meta,
  OptionalId,
  PivotItemsInput,
  Report,
  ReportSource,
} from '../content.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { limits } from '../limits.ts';
import { Nothing, operation } from '../operation.ts';
import { LOAD_TIMEOUT_MS, PLAN_ERRORS, RUN_ERRORS, TEXT_ERRORS } from '../query-errors.ts';
import { cursorQuery, Id, Maybe, Name, PublicId, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Reports: 'Saved queries of a deployment, and how they are displayed.',
} satisfies TagDefinitions;

export const errors = {
  cursor_unsupported: {
    status: 400,
    message: '`sortBy=lastViewedAt` has no cursor: use `limit` and `page`.',
  },
  report_not_found: { status: 404, message: 'There is no such report.' },
  public_id_taken: { status: 409, message: 'Another report has this public id.' },
  report_without_query: {
    status: 409,
    message: 'The report has no query in the JSON query format, so it cannot be run.',
  },
  workbook_full: { status: 409, message: 'The workbook has 10,000 reports already.' },
  too_many_placements: { status: 409, message: 'The report is placed in 50 spreadsheets already.' },
} as const satisfies ErrorDefinitions;

const text = (maxLength: number) => Maybe(Type.String({ maxLength }));

const query = Maybe(Type.String({ maxLength: limits.query, description: `Up to ${limits.query / 1024} KB` }));

const fields = {
  name: Maybe({ ...Name, description: '`Untitled report` by default' }),
  title: text(1000),
  description: text(10_000),
  folderId: OptionalId,
  workbookId: OptionalId,
  externalWorkbookId: text(1000),
  resultLocation: text(1000),
  endResultCell: text(1000),
  sqlQuery: query,
  jsonQuery: query,
  pivotItems: Maybe(PivotItemsInput),
  meta: Maybe(Meta),
  publicId: Maybe({ ...PublicId, description: 'Set at creation; it never changes' }),
};

const CreateReportInput = Shape('CreateReportInput', { ...fields, source: Maybe(ReportSource) });
const UpdateReportInput = Shape('UpdateReportInput', fields);

const common = { tag: 'Reports', auth: 'management' } as const;
const one = { deploymentId: Id, reportId: Id };
const path = '/api/v1/deployments/{deploymentId}/reports';
/** Enough for both queries and `meta` if every character is written as an escape. */
const bodyLimitBytes = 2 * 1024 * 1024;
const PLACE_ERRORS = ['folder_not_found', 'workbook_not_found', 'workbook_full'] as const;

export const getReports = operation({
  ...common,
  embed: 'creator',
  id: 'getReports',
  method: 'GET',
  path,
  summary: 'List reports',
  description:
    'The reports of the deployment that the caller can access. Page with `first` and `after`; `limit` and `page` are the older way and return `pageInfo: null`. `sortBy=lastViewedAt` has no cursor and returns `pageInfo: null` too. A page of more than 2 MB ends early; in the older way, its later reports come without their larger fields instead.',
  permission: 'DeploymentRead',
  params: { deploymentId: Id },
  query: {
    workbookId: OptionalId,
    folderId: Maybe({ ...Id, description: 'Only reports directly in this folder' }),
    externalWorkbookId: Maybe(
      Type.String({
        maxLength: 1000,
        description: 'The external workbook id of the report or of one of its placements',
      }),
    ),
    search: Maybe(
      Type.String({
        maxLength: 255,
        description: 'A part of the name, title or description, in upper or lower case',
      }),
    ),
    sortBy: Maybe(
      Type.Enum(['name', 'createdAt', 'updatedAt', 'lastViewedAt'], {
        description: '`createdAt` by default',
      }),
    ),
    sortDirection: Maybe(
      Type.Enum(['ASC', 'DESC'], { description: 'By default names are ascending and times are descending' }),
    ),
    limit: Maybe(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        deprecated: true,
        description: 'Page size of the older way',
      }),
    ),
    page: Maybe(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        deprecated: true,
        description: 'Number of the page, from 1',
      }),
    ),
    includeCount: Type.Optional(
      Type.Boolean({ description: '`false` leaves `count` null, which is faster' }),
    ),
    embedTenantName,
    ...cursorQuery,
  },
  reply: ListResponse('ReportsListResponse', Report),
  errors: ['mixed_pagination', 'cursor_unsupported'],
  audit: 'none',
});

export const createReport = operation({
  ...common,
  embed: 'creator',
  id: 'createReport',
  conditional: 'sent',
  method: 'POST',
  path,
  summary: 'Create a report',
  description:
    'The caller becomes the owner. A report holds one question, as SQL or as a JSON query, and how it is drawn.',
  permission: 'AIBIExplore',
  params: { deploymentId: Id },
  body: CreateReportInput,
  bodyLimitBytes,
  reply: Report,
  errors: [...PLACE_ERRORS, 'public_id_taken', 'embed_content_limit_reached'],
  audit: 'report',
});

export const getReport = operation({
  ...common,
  embed: 'creator',
  id: 'getReport',
  conditional: true,
  method: 'GET',
  path: `${path}/{reportId}`,
  summary: 'Get a report',
  description: 'Also records that the caller viewed the report.',
  permission: 'ReportRead',
  permissionOn: 'resource',
  params: one,
  reply: Report,
  errors: ['report_not_found'],
  audit: 'none',
});

export const updateReport = operation({
  ...common,
  embed: 'creator',
  id: 'updateReport',
  conditional: true,
  method: 'PUT',
  path: `${path}/{reportId}`,
  summary: 'Change a report',
  description:
    'Absent fields stay as they are. Published dashboards keep their copy until they are published again.',
  permission: 'ReportEdit',
  permissionOn: 'resource',
  params: one,
  body: UpdateReportInput,
  bodyLimitBytes,
  reply: Report,
  errors: ['report_not_found', ...PLACE_ERRORS, 'embed_tenant_mismatch'],
  audit: 'report',
});

export const deleteReport = operation({
  ...common,
  embed: 'creator',
  id: 'deleteReport',
  conditional: true,
  method: 'DELETE',
  path: `${path}/{reportId}`,
  summary: 'Delete a report',
  description: 'Published dashboards keep the copy that they have.',
  permission: 'ReportManage',
  permissionOn: 'resource',
  params: one,
  reply: Nothing,
  errors: ['report_not_found', 'precondition_failed'],
  audit: 'report',
});

export const upsertReportByPublicId = operation({
  ...common,
  embed: 'creator',
  id: 'upsertReportByPublicId',
  conditional: 'upsert',
  method: 'PUT',
  path: `${path}/by-public-id/{publicId}`,
  summary: 'Create the report with this public id, or change it',
  description:
    'With `If-None-Match: *` the operation only creates, and with `If-Match` it only changes. If that is not possible, the reply is a 412. A change merges `meta` key by key: keys that are not given stay. An update replaces it as a whole.',
  permission: 'AIBIExplore',
  params: { deploymentId: Id, publicId: PublicId },
  body: CreateReportInput,
  bodyLimitBytes,
  reply: Report,
  errors: [
    ...PLACE_ERRORS,
    'public_id_taken',
    'embed_tenant_mismatch',
    'embed_content_limit_reached',
    'precondition_failed',
  ],
  audit: 'report',
});

export const connectReportToWorkbook = operation({
  ...common,
  embed: 'creator',
  id: 'connectReportToWorkbook',
  conditional: true,
  method: 'PUT',
  path: `${path}/{reportId}/connect-workbook`,
  summary: 'Place a report in a spreadsheet',
  description: `Adds or updates the placement in that spreadsheet. A report has at most ${limits.placements} placements. The caller only needs to be able to read the report.`,
  permission: 'ReportRead',
  permissionOn: 'resource',
  params: one,
  body: Shape('ConnectReportToWorkbookInput', {
    externalWorkbookId: Type.String({ minLength: 1, maxLength: 1000 }),
    resultLocation: Type.String({ minLength: 1, maxLength: 1000 }),
    endResultCell: text(1000),
  }),
  reply: Report,
  errors: ['report_not_found', 'too_many_placements', 'precondition_failed'],
  audit: 'report',
});

export const refreshReport = operation({
  ...common,
  embed: 'creator',
  id: 'refreshReport',
  method: 'PUT',
  path: `${path}/{reportId}/refresh`,
  summary: 'Run the query of a report',
  description:
    'Asks the data source again, with the policies of the caller, so that the next `load` of the same query has the new answer. Records when the report was refreshed and by whom. The caller only needs to be able to read the report.',
  permission: 'ReportRead',
  permissionOn: 'resource',
  params: one,
  timeoutMs: LOAD_TIMEOUT_MS,
  reply: Report,
  errors: [
    'report_not_found',
    'report_without_query',
    'embed_sql_disabled',
    ...PLAN_ERRORS,
    ...RUN_ERRORS,
    ...TEXT_ERRORS,
  ],
  audit: 'report',
});
