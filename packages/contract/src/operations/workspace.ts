import { Type } from 'typebox';
import { actions } from '../actions.ts';
import { embedTenantName, Folder, OptionalId, Report, Workbook } from '../content.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { operation } from '../operation.ts';
import { BulkActionError, cursorQuery, Id, Maybe, PageInfo, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Workspace: 'List folders, workbooks and reports together, and move or delete several at once.',
} satisfies TagDefinitions;

export const errors = {
  embed_tenant_mismatch: {
    status: 409,
    message: 'Content cannot be moved into or out of an embed tenant.',
  },
} as const satisfies ErrorDefinitions;

const ItemType = Type.Enum(['FOLDER', 'WORKBOOK', 'REPORT'], { title: 'ContentType' });
const Item = Type.Union([Folder, Workbook, Report]);
const ItemRef = Shape('WorkspaceItemRef', { id: Id, type: ItemType });

const Failure = Shape('WorkspaceBulkFailure', {
  id: Id,
  type: ItemType,
  error: BulkActionError,
});

const Items = Type.Array(ItemRef, { minItems: 1, maxItems: 100 });

const WorkspaceConnection = Shape('WorkspaceConnectionResponse', {
  items: Type.Array(Item),
  pageInfo: PageInfo,
});

const listQuery = {
  folderId: Maybe({ ...Id, description: 'List this folder; absent for the root' }),
  types: Maybe(Type.Array(ItemType, { maxItems: 3 })),
  orderByField: Maybe(
    Type.Enum(['updated_at', 'created_at', 'name', 'viewer_last_viewed_at'], {
      description: '`updated_at` by default',
    }),
  ),
  orderByDirection: Maybe(
    Type.Enum(['ASC', 'DESC'], { description: 'By default names are ascending and times are descending' }),
  ),
  search: Maybe(
    Type.String({
      maxLength: 255,
      description: 'A part of the name, title or description; without `folderId`, search all folders',
    }),
  ),
  ...cursorQuery,
};

const common = {
  tag: 'Workspace',
  auth: 'management',
  params: { deploymentId: Id },
} as const;
const path = '/api/v1/deployments/{deploymentId}';

export const workspaceObjects = operation({
  ...common,
  embed: 'creator',
  id: 'workspaceObjects',
  method: 'GET',
  path: `${path}/workspace`,
  summary: 'List folders, workbooks and reports together',
  description: 'One list of what the caller may read in a folder or, without one, at the root.',
  permission: 'DeploymentRead',
  query: {
    ...listQuery,
    owned: Maybe(Type.Boolean({ description: 'Only what the caller owns, in all folders and workbooks' })),
    embedTenantName,
  },
  reply: WorkspaceConnection,
  audit: 'none',
});

export const sharedWorkspaceObjects = operation({
  ...common,
  embed: 'creator',
  id: 'sharedWorkspaceObjects',
  method: 'GET',
  path: `${path}/shared-workspace`,
  summary: 'List content that others own and have shared with the caller',
  description: 'What the caller may read by a policy, a group or a role, without what they own.',
  permission: 'DeploymentRead',
  query: listQuery,
  reply: WorkspaceConnection,
  audit: 'none',
});

const ItemIds = Maybe(
  Type.Array(Id, {
    maxItems: 500,
    description: 'May be repeated; those that the caller may not read are left out',
  }),
);
const ItemRights = Shape('WorkspaceItemRights', {
  id: { ...Id, description: 'The number of the folder, workbook or report' },
  canEdit: Type.Boolean({ description: 'Whether the caller may rename it and change what is in it' }),
  canManage: Type.Boolean({ description: 'Whether the caller may share it' }),
  canMove: Type.Boolean({
    description: 'Whether the caller may move or delete it: they manage everything that is in it too',
  }),
});

export const workspaceRights = operation({
  ...common,
  embed: 'creator',
  id: 'workspaceRights',
  method: 'GET',
  path: `${path}/workspace/rights`,
  summary: 'Tell what the caller may do with items, and in the deployment',
  description: 'For clients that offer only what will be allowed. Each operation decides for itself again.',
  permission: 'DeploymentRead',
  query: { folderIds: ItemIds, workbookIds: ItemIds, reportIds: ItemIds },
  reply: Shape('WorkspaceRights', {
    canCreate: Type.Boolean({ description: 'Whether the caller may create content at the root' }),
    actions: Type.Array(Type.Enum([...actions]), {
      description:
        'What the caller may do in this deployment by roles and policies on it; empty in creator mode',
    }),
    folders: Type.Array(ItemRights, { description: 'Those of `folderIds` that the caller may read' }),
    workbooks: Type.Array(ItemRights, { description: 'Those of `workbookIds` that the caller may read' }),
    reports: Type.Array(ItemRights, { description: 'Those of `reportIds` that the caller may read' }),
  }),
  audit: 'none',
});

export const moveWorkspaceObject = operation({
  ...common,
  embed: 'creator',
  id: 'moveWorkspaceObject',
  method: 'POST',
  path: `${path}/workspace/move`,
  summary: 'Move a folder, workbook or report into a folder',
  description:
    'The caller needs manage on what is moved, and edit on the folder that it goes to. What is in a folder goes with it, and who can see it follows from the new place.',
  permission: 'DeploymentRead',
  body: Shape('MoveWorkspaceObjectInput', { id: Id, type: ItemType, folderId: OptionalId }),
  reply: Item,
  errors: [
    'folder_not_found',
    'workbook_not_found',
    'report_not_found',
    'folder_cycle',
    'embed_tenant_mismatch',
    'folder_too_deep',
    'tree_busy',
  ],
  audit: 'workspace',
});

export const bulkMoveWorkspaceObjects = operation({
  ...common,
  embed: 'creator',
  id: 'bulkMoveWorkspaceObjects',
  method: 'POST',
  path: `${path}/workspace/bulk-move`,
  summary: 'Move several items into a folder',
  description: 'Each item succeeds or fails separately.',
  permission: 'DeploymentRead',
  body: Shape('BulkMoveWorkspaceObjectsInput', { items: Items, folderId: OptionalId }),
  reply: Shape('BulkMoveWorkspaceObjectsResponse', { moved: Type.Array(Item), failed: Type.Array(Failure) }),
  errors: ['folder_not_found', 'tree_busy'],
  audit: 'workspace',
});

export const bulkDeleteWorkspaceObjects = operation({
  ...common,
  embed: 'creator',
  id: 'bulkDeleteWorkspaceObjects',
  method: 'POST',
  path: `${path}/workspace/bulk-delete`,
  summary: 'Delete several items',
  description:
    'Each item succeeds or fails separately. Workbooks and reports in a deleted folder move to the root. A folder that contains folders is not deleted.',
  permission: 'DeploymentRead',
  body: Shape('BulkDeleteWorkspaceObjectsInput', { items: Items }),
  reply: Shape('BulkDeleteWorkspaceObjectsPayload', {
    deleted: Type.Array(ItemRef),
    failed: Type.Array(Failure),
  }),
  errors: ['tree_busy'],
  audit: 'workspace',
});
