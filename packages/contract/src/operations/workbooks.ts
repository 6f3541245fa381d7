import { Type } from 'typebox';
import { embedTenantName, ListResponse, Meta, OptionalId, Workbook } from '../content.ts';
import { DashboardConfig, DashboardConfigInput } from '../dashboards.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { Nothing, operation } from '../operation.ts';
import { cursorQuery, Id, Maybe, matching, Name, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Workbooks: 'A workbook holds reports that belong together, and a dashboard.',
} satisfies TagDefinitions;

export const errors = {
  workbook_not_found: { status: 404, message: 'There is no such workbook.' },
  slug_taken: { status: 409, message: 'Another workbook has this slug.' },
} as const satisfies ErrorDefinitions;

const common = { tag: 'Workbooks', auth: 'management' } as const;
const one = { deploymentId: Id, workbookId: Id };
const path = '/api/v1/deployments/{deploymentId}/workbooks';
const Slug = Type.String({
  ...matching(
    '^[a-z0-9][a-z0-9-]{0,99}$',
    'must have 1 to 100 of a-z, 0-9 and -, and begin with a letter or digit',
  ),
  examples: ['revenue'],
});

const fields = {
  name: Maybe({ ...Name, description: '`Untitled workbook` by default' }),
  folderId: OptionalId,
  meta: Maybe(Meta),
};

const CreateWorkbookInput = Shape('CreateWorkbookInput', fields);

export const getWorkbooks = operation({
  ...common,
  embed: 'creator',
  id: 'getWorkbooks',
  method: 'GET',
  path,
  summary: 'List workbooks',
  description:
    'The workbooks that the caller can access, newest first. Dashboards of the kind `APP` are left out. A page of more than 2 MB ends early.',
  permission: 'DeploymentRead',
  params: { deploymentId: Id },
  query: {
    folderId: Maybe(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Only workbooks directly in this folder; 0 for the root; absent for all',
      }),
    ),
    embedTenantName,
    ...cursorQuery,
  },
  reply: ListResponse('WorkbooksListResponse', Workbook),
  audit: 'none',
});

export const createWorkbook = operation({
  ...common,
  embed: 'creator',
  id: 'createWorkbook',
  conditional: 'sent',
  method: 'POST',
  path,
  summary: 'Create a workbook',
  description: 'The caller becomes the owner. A workbook groups reports and has one dashboard.',
  permission: 'AIBIExplore',
  params: { deploymentId: Id },
  body: CreateWorkbookInput,
  reply: Workbook,
  errors: ['folder_not_found', 'embed_content_limit_reached'],
  audit: 'workbook',
});

export const getWorkbook = operation({
  ...common,
  embed: 'creator',
  id: 'getWorkbook',
  conditional: true,
  method: 'GET',
  path: `${path}/{workbookId}`,
  summary: 'Get a workbook',
  description:
    'With the draft of its dashboard and what is published of it. Its reports are a list of their own.',
  permission: 'WorkbookRead',
  permissionOn: 'resource',
  params: one,
  reply: Workbook,
  errors: ['workbook_not_found'],
  audit: 'none',
});

export const updateWorkbook = operation({
  ...common,
  embed: 'creator',
  id: 'updateWorkbook',
  conditional: true,
  method: 'PUT',
  path: `${path}/{workbookId}`,
  summary: 'Change a workbook',
  description: 'Absent fields stay as they are. The draft of the dashboard has an operation of its own.',
  permission: 'WorkbookEdit',
  permissionOn: 'resource',
  params: one,
  body: Shape('UpdateWorkbookInput', {
    ...fields,
    slug: Maybe(Slug),
    slugTakeover: Maybe(
      Type.Boolean({
        description: 'Take the slug from the workbook that has it; the caller must manage both workbooks',
      }),
    ),
  }),
  reply: Workbook,
  errors: ['workbook_not_found', 'folder_not_found', 'slug_taken', 'embed_tenant_mismatch'],
  audit: 'workbook',
});

export const deleteWorkbook = operation({
  ...common,
  embed: 'creator',
  id: 'deleteWorkbook',
  conditional: true,
  method: 'DELETE',
  path: `${path}/{workbookId}`,
  summary: 'Delete a workbook and its reports',
  description: 'Its dashboard goes with it, and is gone for viewers at once.',
  permission: 'WorkbookManage',
  permissionOn: 'resource',
  params: one,
  reply: Nothing,
  errors: ['workbook_not_found', 'precondition_failed'],
  audit: 'workbook',
});

export const upsertWorkbookBySlug = operation({
  ...common,
  embed: 'creator',
  id: 'upsertWorkbookBySlug',
  conditional: 'upsert',
  method: 'PUT',
  path: `${path}/by-slug/{slug}`,
  summary: 'Create the workbook with this slug, or change it',
  description:
    'With `If-None-Match: *` the operation only creates, and with `If-Match` it only changes. If that is not possible, the reply is a 412. A change merges `meta` key by key: keys that are not given stay. An update replaces it as a whole.',
  permission: 'AIBIExplore',
  params: { deploymentId: Id, slug: Slug },
  body: CreateWorkbookInput,
  reply: Workbook,
  errors: [
    'folder_not_found',
    'slug_taken',
    'embed_tenant_mismatch',
    'embed_content_limit_reached',
    'precondition_failed',
  ],
  audit: 'workbook',
});

export const duplicateWorkbook = operation({
  ...common,
  embed: 'creator',
  id: 'duplicateWorkbook',
  conditional: 'sent',
  method: 'POST',
  path: `${path}/{workbookId}/duplicate`,
  summary: 'Copy a workbook with its reports',
  description:
    'The copy belongs to the caller. With `shared`, the original is a workbook that others shared with the caller.',
  permission: 'AIBIExplore',
  params: one,
  body: Shape('DuplicateWorkbookInput', { shared: Maybe(Type.Boolean()) }),
  optionalBody: true,
  reply: Workbook,
  errors: ['workbook_not_found', 'workbook_full', 'embed_content_limit_reached'],
  audit: 'workbook',
});

export const updateWorkbookDashboard = operation({
  ...common,
  embed: 'creator',
  id: 'updateWorkbookDashboard',
  conditional: true,
  method: 'PUT',
  path: `${path}/{workbookId}/dashboard`,
  summary: "Change the draft of a workbook's dashboard",
  description:
    'Viewers see nothing of it until it is published. The draft is replaced as a whole. The audit log has one entry for all saves of an `editingSession` on one day, and one for each save without it.',
  permission: 'WorkbookEdit',
  permissionOn: 'resource',
  params: one,
  body: Shape('WorkbookDashboardInput', {
    dashboardDraft: Maybe(DashboardConfigInput),
    editingSession: Maybe(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Chosen by an editor that saves every few seconds, the same while somebody edits',
      }),
    ),
  }),
  // Enough for an app of 5 MB if every character is written as an escape.
  bodyLimitBytes: 8 * 1024 * 1024,
  reply: Shape('WorkbookDashboard', {
    dashboardDraft: Maybe(DashboardConfig),
    dashboardPublished: Maybe(DashboardConfig),
  }),
  errors: ['workbook_not_found'],
  audit: 'workbook',
});
