import { Type } from 'typebox';
import { Meta } from '../content.ts';
import { Dashboard, DashboardConfigInput, ReportPreview, ReportSnapshot } from '../dashboards.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { describedAs } from '../hoist.ts';
import { JsonQuery } from '../json-query.ts';
import { Bytes, EventStream, JsonText } from '../kinds.ts';
import { limits } from '../limits.ts';
import { Nothing, operation } from '../operation.ts';
import { LOAD_TIMEOUT_MS, PLAN_ERRORS, RUN_ERRORS, TEXT_ERRORS } from '../query-errors.ts';
import { LoadResults, open } from '../query-replies.ts';
import { DateTime, EmbedTenantName, Id, Maybe, PublicId, RecordOf, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Dashboard Embed Access': 'Which embed tenants see the dashboard of a workbook.',
} satisfies TagDefinitions;

export const errors = {
  dashboard_not_found: { status: 404, message: 'There is no such dashboard.' },
  dashboard_without_draft: {
    status: 409,
    message: 'The workbook has no draft of a dashboard: give a `config`, or store a draft first.',
  },
  dashboard_version_not_found: {
    status: 404,
    message: 'There is no such version of the dashboard. Old versions are deleted.',
  },
  dashboard_preview_not_found: {
    status: 404,
    message: 'There is no such preview. It may have ended: a preview lasts an hour.',
  },
  not_published: { status: 409, message: 'The dashboard of the workbook is not published.' },
  thread_changed: {
    status: 409,
    message: 'The widget has changed: `checksum` is not the checksum of its thread.',
  },
  python_not_found: {
    status: 404,
    message: 'The published dashboard has no such report with Python. It may have been published again.',
  },
  rendering_failed: {
    status: 409,
    message: 'The dashboard could not be drawn. The message says which widget failed, and why.',
  },
  python_unavailable: { status: 501, message: 'Python reports do not run on this server.' },
} as const satisfies ErrorDefinitions;

const workbook = {
  auth: 'management',
  tag: 'Workbooks',
  params: { deploymentId: Id, workbookId: Id },
} as const;
const path = '/api/v1/deployments/{deploymentId}/workbooks/{workbookId}';

export const publishDashboard = operation({
  ...workbook,
  embed: 'creator',
  id: 'publishDashboard',
  conditional: true,
  method: 'POST',
  path: `${path}/publish`,
  summary: 'Publish the dashboard of a workbook',
  description:
    'Publishes `config` or, without it, the draft of the workbook. Makes a new version, with the reports of all charts as they are now. `If-Match` compares the tag of the published dashboard. Changing `allowEmbed` needs `WorkbookManage`.',
  permission: 'WorkbookEdit',
  permissionOn: 'resource',
  body: Shape('PublishDashboardInput', {
    workbookId: Maybe({ ...Id, description: 'If given, the workbook of the path' }),
    dashboardId: Maybe({ ...Id, description: 'If given, the dashboard of the workbook' }),
    config: Maybe(DashboardConfigInput),
    title: Maybe(Type.String({ maxLength: 255, description: 'By default that of the config, or the name' })),
    description: Maybe(Type.String({ maxLength: 10_000 })),
    allowEmbed: Maybe(Type.Boolean({ description: 'Stays as it is by default; false at first' })),
    note: Maybe(
      Type.String({ maxLength: 1000, description: 'What has changed, for those who look at the versions' }),
    ),
  }),
  // Enough for an app of 5 MB if every character is written as an escape.
  bodyLimitBytes: 8 * 1024 * 1024,
  timeoutMs: 60_000,
  reply: Dashboard,
  errors: ['workbook_not_found', 'invalid_reference', 'dashboard_without_draft'],
  audit: 'dashboard',
});

const query = (description: string) => Maybe(Type.String({ maxLength: limits.query, description }));

export const previewReport = operation({
  auth: 'management',
  tag: 'Reports',
  embed: 'creator',
  id: 'previewReport',
  method: 'POST',
  path: '/api/v1/deployments/{deploymentId}/report-preview',
  summary: 'Show how a report would be drawn',
  description:
    'Takes a report that need not be stored, and returns what a published dashboard would hold of it. What publishing refuses is a 400 with the same words. Neither runs the query nor stores anything.',
  permission: 'AIBIExplore',
  params: { deploymentId: Id },
  body: Shape('ReportPreviewInput', {
    jsonQuery: query('The question in the JSON query format, as text'),
    sqlQuery: query('The question as SQL over the data model'),
    meta: Maybe({ ...Meta, description: '`visualization` or `chart` says how the report is drawn' }),
  }),
  // Enough for both queries and `meta` if every character is written as an escape.
  bodyLimitBytes: 2 * 1024 * 1024,
  timeoutMs: 60_000,
  reply: ReportPreview,
  errors: ['invalid_reference'],
  audit: 'none',
});

export const unpublishDashboard = operation({
  ...workbook,
  embed: 'creator',
  id: 'unpublishDashboard',
  conditional: true,
  method: 'DELETE',
  path: `${path}/publish`,
  summary: 'Take the dashboard of a workbook back from viewers',
  description:
    'Nobody sees it until it is published again, under the same `publicId`. The draft, the versions and who has access stay. `If-Match` compares the tag of the published dashboard.',
  permission: 'WorkbookEdit',
  permissionOn: 'resource',
  reply: Nothing,
  errors: ['workbook_not_found', 'not_published', 'precondition_failed'],
  audit: 'dashboard',
});

export const getDashboardVersions = operation({
  ...workbook,
  embed: 'creator',
  id: 'getDashboardVersions',
  method: 'GET',
  path: `${path}/dashboard/versions`,
  summary: 'Get the versions of a dashboard',
  description:
    'What was published, newest first. The last 50 versions are kept, as long as they hold at most 20 MB.',
  permission: 'WorkbookEdit',
  permissionOn: 'resource',
  reply: Shape('DashboardVersions', {
    isPublished: Type.Boolean({ description: 'Whether viewers see the newest version' }),
    versions: Type.Array(
      Shape('DashboardVersion', {
        versionNumber: Type.Integer(),
        title: Maybe(Type.String()),
        note: Maybe(Type.String()),
        publishedAt: DateTime,
        publishedBy: Maybe(
          Shape('DashboardPublisher', { id: Id, displayName: Type.String({ examples: ['Ada Lovelace'] }) }),
        ),
      }),
      { maxItems: 50 },
    ),
  }),
  errors: ['workbook_not_found'],
  audit: 'none',
});

export const getDashboardVersion = operation({
  ...workbook,
  params: { ...workbook.params, versionNumber: Id },
  embed: 'creator',
  id: 'getDashboardVersion',
  method: 'GET',
  path: `${path}/dashboard/versions/{versionNumber}`,
  summary: 'Get a version of a dashboard',
  description:
    'As it was published, with the reports of that time. To restore it, store its `config` as the draft and publish it.',
  permission: 'WorkbookEdit',
  permissionOn: 'resource',
  reply: Dashboard,
  errors: ['workbook_not_found', 'dashboard_version_not_found'],
  audit: 'none',
});

export const previewDashboardReports = operation({
  ...workbook,
  embed: 'creator',
  id: 'previewDashboardReports',
  method: 'POST',
  path: `${path}/dashboard/preview`,
  summary: 'Get reports as charts of a dashboard would show them',
  description:
    'The snapshots that publishing would make of these reports now. Nothing is stored. A report that cannot be drawn has `meta.problem`; one that the caller cannot read is left out.',
  permission: 'WorkbookEdit',
  permissionOn: 'resource',
  timeoutMs: 60_000,
  body: Shape('PreviewDashboardReportsInput', {
    reportIds: Type.Array(Id, { minItems: 1, maxItems: 200, uniqueItems: true }),
  }),
  reply: Shape('DashboardReportPreviews', {
    reportSnapshots: Type.Array(ReportSnapshot),
    userAttributes: {
      ...RecordOf(Type.Unknown()),
      description: 'Those of the caller in force, which filters can begin with',
    },
  }),
  errors: ['workbook_not_found'],
  audit: 'none',
});

const Tab = Type.String({
  minLength: 8,
  maxLength: 64,
  description: 'Chosen by the page, another one for each tab of a browser',
  examples: ['5f0c6e0e-7f0a-4d8e-9d1a-1f6d6a0f3c11'],
});

export const watchDashboardDraft = operation({
  ...workbook,
  embed: 'creator',
  id: 'watchDashboardDraft',
  method: 'GET',
  path: `${path}/dashboard/presence`,
  summary: 'Hear who edits the draft of a dashboard',
  description:
    'Server-sent events. `people` comes at once, and whenever somebody comes, leaves or opens another widget; the caller is among them. A caller counts as being there as long as they listen. Up to 30 tabs of a workbook and 10 of a person can listen to one server. If the stream ends, connect again.',
  permission: 'WorkbookEdit',
  permissionOn: 'resource',
  query: { tab: Type.Optional(Tab) },
  reply: EventStream({
    people: Type.Object(
      {
        people: Type.Array(
          Type.Object(
            {
              tab: Type.String({ description: 'As its page has chosen it' }),
              userId: Id,
              displayName: Type.String({ description: 'Their first name, or their username' }),
              widgetId: Type.Union([Type.String(), Type.Null()], {
                description: 'The widget whose settings they have open',
              }),
            },
            { additionalProperties: false },
          ),
        ),
      },
      { additionalProperties: false },
    ),
  }),
  errors: ['workbook_not_found', 'too_many_at_once'],
  audit: 'none',
});

export const updateDashboardPresence = operation({
  ...workbook,
  embed: 'creator',
  id: 'updateDashboardPresence',
  method: 'PUT',
  path: `${path}/dashboard/presence`,
  summary: 'Say which widget of a draft one has open',
  description:
    'For a tab that listens to `watchDashboardDraft`, at whatever server. For others nothing happens.',
  permission: 'WorkbookEdit',
  permissionOn: 'resource',
  body: Shape('DashboardPresenceInput', {
    tab: Tab,
    widgetId: Maybe(Type.String({ maxLength: 128, description: 'Null if none is open' })),
  }),
  bodyLimitBytes: 4096,
  reply: Nothing,
  errors: ['workbook_not_found'],
  audit: 'none',
});

const names = Maybe(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 200 }));

export const createDashboardPreview = operation({
  ...workbook,
  id: 'createDashboardPreview',
  method: 'POST',
  path: `${path}/dashboard/previews`,
  summary: 'Preview a dashboard as somebody else',
  description:
    'For admins. Names a person, a group or a viewer in a page of a host, under whose policies the admin then asks for rows with `loadDashboardPreview`. The preview is audited, ends after an hour, and works for this admin and this workbook only; it is no credential of the other person.',
  permission: 'All',
  body: Shape('DashboardPreviewInput', {
    userId: Maybe({ ...Id, description: 'An active person of the account' }),
    groupId: Maybe({
      ...Id,
      description:
        'A group of the account: somebody who is in it and in no other, with the defaults of all attributes',
    }),
    viewer: Maybe(
      Shape(
        'DashboardPreviewViewer',
        {
          embedTenantName: EmbedTenantName,
          externalId: Maybe(
            Type.String({
              minLength: 1,
              maxLength: 255,
              description: 'What is not given here is as this viewer has it, if they were there before',
            }),
          ),
          creatorMode: Maybe(
            Type.Boolean({ description: 'Groups and attributes are then those of the embed tenant' }),
          ),
          groups: names,
          tenantGroups: names,
          userAttributes: Maybe(RecordOf(Type.Unknown())),
          securityContext: Maybe(open('What policies see as `securityContext`')),
        },
        { description: 'As a session with the same fields would make them' },
      ),
    ),
  }),
  bodyLimitBytes: 16 * 1024,
  reply: Shape('DashboardPreview', {
    previewId: Type.String({ description: 'For `loadDashboardPreview`' }),
    expiresAt: DateTime,
    seesDashboard: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether they see what is published; null for a group',
    }),
    groups: Type.Array(Type.String()),
    tenantGroups: Type.Array(Type.String()),
    roles: Type.Array(Type.String()),
    userAttributes: RecordOf(Type.Unknown()),
  }),
  errors: [
    'workbook_not_found',
    'user_not_found',
    'group_not_found',
    'embed_tenant_not_found',
    'groups_not_found',
    'user_attributes_not_found',
  ],
  audit: 'dashboardPreview',
});

const OneQuery = Type.Unsafe<object>(describedAs('JsonQuery', JsonQuery));

export const loadDashboardPreview = operation({
  ...workbook,
  id: 'loadDashboardPreview',
  method: 'POST',
  path: `${path}/dashboard/previews/load`,
  summary: 'Run queries in a preview as somebody else',
  description:
    'Returns the rows that the policies of the data model let the person, group or viewer of the preview see, as `load` would for them. Their rights are read each time. A data source that gives each person their own rows is refused.',
  permission: 'All',
  timeoutMs: LOAD_TIMEOUT_MS,
  body: Shape('DashboardPreviewLoadInput', {
    previewId: Type.String({ minLength: 1, maxLength: 40_000 }),
    query: Type.Array(OneQuery, { minItems: 1, maxItems: 20 }),
    isRenewed: Maybe(Type.Boolean({ description: 'Runs the queries even if their answers are known' })),
  }),
  bodyLimitBytes: 1024 * 1024,
  reply: JsonText(LoadResults),
  errors: [
    'workbook_not_found',
    'dashboard_preview_not_found',
    'user_not_found',
    'group_not_found',
    'embed_tenant_not_found',
    'groups_not_found',
    'user_attributes_not_found',
    ...PLAN_ERRORS,
    ...RUN_ERRORS,
  ],
  audit: 'none',
});

export const updatePublishedDashboardAiWidgetThread = operation({
  ...workbook,
  embed: 'creator',
  id: 'updatePublishedDashboardAiWidgetThread',
  conditional: true,
  method: 'POST',
  path: `${path}/dashboard/ai-widget-thread`,
  summary: 'Set the thread of an AI widget of the published dashboard',
  description:
    'Makes no new version. With `checksum`, the widget must still have the thread with this checksum; the reply holds the new one in the config of the widget.',
  permission: 'WorkbookEdit',
  permissionOn: 'resource',
  body: Shape('AiWidgetThreadInput', {
    threadId: Type.String({ minLength: 1, maxLength: 255 }),
    widgetId: Type.String({ minLength: 1, maxLength: 128 }),
    checksum: Maybe(Type.String({ maxLength: 255 })),
  }),
  reply: Dashboard,
  errors: ['workbook_not_found', 'invalid_reference', 'not_published', 'thread_changed'],
  audit: 'dashboard',
});

/** Lists of choices in the address, as JSON. */
const choices = (description: string) => Type.Optional(Type.String({ maxLength: 20_000, description }));

export const exportDashboard = operation({
  ...workbook,
  embed: 'viewer',
  id: 'exportDashboard',
  method: 'GET',
  path: `${path}/dashboard/export`,
  summary: 'Get the published dashboard as a picture or as PDF',
  description:
    'Drawn by the server with the rows that the caller may see: all tabs, with the filters in force, and the time and zone of the data. Who sees the dashboard may have it, unless it restricts the download of data. If a widget cannot be drawn, nothing is: the 409 says which, and why. A server draws two at once, and one of a caller or embed tenant.',
  permission: 'WorkbookRead',
  permissionOn: 'resource',
  query: {
    format: Type.Optional(
      Type.Enum(['png', 'pdf'], {
        description:
          'A picture at twice the density, which is the default, or pages that break between cards',
      }),
    ),
    scheme: Type.Optional(Type.Enum(['light', 'dark'], { description: 'By default `light`' })),
    locale: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Over that of the dashboard and of the account',
        examples: ['de'],
      }),
    ),
    timezone: Type.Optional(
      Type.String({
        maxLength: 60,
        description: 'Over that of the dashboard and of the account',
        examples: ['Europe/Berlin'],
      }),
    ),
    filters: choices(
      'JSON: a list of `{ member, operator, value }`, over the presets of the filters of the dashboard; a `value` of `null` clears one',
    ),
    timeGrains: choices('JSON: a list of `{ member, grain }`'),
    crossFilters: choices(
      'JSON: a list of `{ widgetId, member, value }`, or with `range` (the first and the last day) for a time: marks of charts with `crossFilter`, by which the other charts are filtered',
    ),
  },
  timeoutMs: LOAD_TIMEOUT_MS,
  reply: Bytes('image/png', 'application/pdf'),
  replyHeaders: { 'content-disposition': Type.String({ description: 'Names the file' }) },
  errors: [
    'workbook_not_found',
    'dashboard_not_found',
    'rendering_failed',
    ...PLAN_ERRORS,
    ...RUN_ERRORS,
    ...TEXT_ERRORS,
  ],
  audit: 'none',
});

const EmbedAction = Type.Enum(['read', 'none'], { title: 'EmbedAccessAction' });

const EmbedAccessResponse = Shape('EmbedAccessResponse', {
  allowEmbed: Type.Boolean(),
  allEmbedUsers: Shape('EmbedAccessAllEmbedUsers', {
    enabled: Type.Boolean(),
    action: EmbedAction,
    groupId: Maybe(Id),
  }),
  tenants: Type.Array(
    Shape('EmbedAccessTenantEntry', {
      embedTenantName: Type.String({ examples: ['acme-corp'] }),
      action: EmbedAction,
      groupId: { ...Id, description: 'The number of the embed tenant' },
    }),
  ),
});

const embedAccess = {
  tag: 'Dashboard Embed Access',
  auth: 'management',
  path: `${path}/embed-access`,
  permission: 'WorkbookManage',
  permissionOn: 'resource',
  params: workbook.params,
  reply: EmbedAccessResponse,
} as const;

export const getEmbedAccess = operation({
  ...embedAccess,
  id: 'getEmbedAccess',
  method: 'GET',
  summary: 'Get which embed tenants see the dashboard',
  description:
    'An entry of an embed tenant counts more than what holds for all. Without `allowEmbed`, nobody sees it.',
  errors: ['workbook_not_found'],
  audit: 'none',
});

export const updateEmbedAccess = operation({
  ...embedAccess,
  id: 'updateEmbedAccess',
  method: 'PUT',
  summary: 'Change which embed tenants see the dashboard',
  description:
    'With `embedTenantName`, `action` is the entry of that embed tenant, and no `action` removes the entry. With `allEmbedUsers: true`, `action` is for all embed tenants without an entry; `allEmbedUsers: false` alone closes it to them. Works before the dashboard is published, too.',
  body: Shape('UpdateEmbedAccessInput', {
    action: Maybe(EmbedAction),
    allEmbedUsers: Maybe(Type.Boolean()),
    embedTenantName: Maybe(EmbedTenantName),
    allowEmbed: Maybe(Type.Boolean()),
  }),
  errors: ['workbook_not_found', 'invalid_reference'],
  audit: 'dashboard',
});

/** The examples show a dashboard of the demo. */
const DashboardId = { ...PublicId, examples: ['DemoCommerce'] };

const dashboard = {
  tag: 'Embed',
  auth: 'management',
  path: '/api/v1/embed/dashboard/{publicId}',
  permission: 'none',
  scopedKeys: 'handler',
  conditional: true,
  params: { publicId: DashboardId },
} as const;

export const getDashboard = operation({
  ...dashboard,
  id: 'getDashboard',
  method: 'GET',
  crossOrigin: true,
  summary: 'Get a published dashboard',
  description:
    'For people who can read it, and for viewers with an embed token whose embed tenant may see it. Everybody else gets the same 404 as for a dashboard that does not exist. One with a control that begins with an attribute of the viewer has no `ETag`.',
  embed: 'viewer',
  reply: Dashboard,
  errors: ['dashboard_not_found'],
  audit: 'none',
});

export const postDashboardPythonRun = operation({
  tag: 'Embed',
  auth: 'management',
  embed: 'viewer',
  permission: 'none',
  scopedKeys: 'handler',
  params: { publicId: DashboardId },
  id: 'postDashboardPythonRun',
  method: 'POST',
  path: '/api/v1/embed/dashboard/{publicId}/python-run',
  crossOrigin: true,
  summary: 'Run the Python of a report',
  description:
    'Runs `sqlQuery` with the policies of the data model, gives its rows to the Python of a report of the published dashboard, and returns what the Python makes of them. The Python runs in a sandbox without a network. A failure of the Python is a 200 with `executionError`. People need `AIBIView`.',
  timeoutMs: LOAD_TIMEOUT_MS,
  body: Shape('EmbedPythonFilteredRunInput', {
    reportId: Id,
    reportVersionId: { ...Id, description: 'The `id` of the snapshot' },
    sqlQuery: Type.String({
      minLength: 1,
      maxLength: 20_000,
      description: 'A SELECT that reads cubes and views as tables, with the filters of the viewer',
      examples: ['select status, measure(count) from orders group by 1'],
    }),
  }),
  reply: Shape('PythonAnalysisFilteredRun', {
    at: DateTime,
    executionError: Maybe(Type.String()),
    inputRowCount: Type.Integer(),
    outputData: Type.Unknown({ description: 'What the Python set as `output`, or null' }),
    stderr: Type.String(),
    stdout: Type.String(),
  }),
  errors: [
    'dashboard_not_found',
    'python_not_found',
    'python_unavailable',
    'embed_sql_disabled',
    ...PLAN_ERRORS,
    ...RUN_ERRORS,
  ],
  audit: 'none',
});

export const updateDashboardEmbedding = operation({
  ...dashboard,
  id: 'updateDashboardEmbedding',
  method: 'PATCH',
  summary: 'Allow or forbid that a dashboard is embedded',
  description: 'The caller must manage the dashboard.',
  body: Shape('UpdateDashboardEmbeddingInput', { allowEmbed: Type.Boolean() }),
  reply: Shape('DashboardEmbeddingResponse', { publicId: DashboardId, allowEmbed: Type.Boolean() }),
  errors: ['dashboard_not_found', 'forbidden'],
  audit: 'dashboard',
});
