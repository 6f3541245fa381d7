import { Type } from 'typebox';
import { embedTenantName, Folder, ListResponse, OptionalId } from '../content.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { Nothing, operation } from '../operation.ts';
import { cursorQuery, Id, Maybe, Name, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Folders: 'Folders hold the workbooks and reports of a deployment.',
} satisfies TagDefinitions;

export const errors = {
  folder_not_found: { status: 404, message: 'There is no such folder.' },
  folder_cycle: { status: 409, message: 'A folder cannot be moved below itself.' },
  folder_not_empty: {
    status: 409,
    message:
      'The folder contains folders: delete them first, or delete this folder by its own operation with `recursive=true`.',
  },
  folder_too_deep: { status: 409, message: 'Folders can be nested at most 32 levels deep.' },
  tree_busy: {
    status: 503,
    message: 'These folders are being changed by another request.',
    deprecated: 'busy',
  },
} as const satisfies ErrorDefinitions;

const common = { tag: 'Folders', auth: 'management' } as const;
const one = { deploymentId: Id, folderId: Id };
const path = '/api/v1/deployments/{deploymentId}/folders';
const position = Maybe(
  Type.Integer({
    minimum: -2_147_483_648,
    maximum: 2_147_483_647,
    description: 'The position among its siblings; by default a new folder comes last',
  }),
);

export const getFolders = operation({
  ...common,
  embed: 'creator',
  id: 'getFolders',
  method: 'GET',
  path,
  summary: 'List folders',
  description:
    'The folders at the root, or directly in a folder, that the caller can access, in the order of `position`. With `recursive`, also the folders below them.',
  permission: 'DeploymentRead',
  params: { deploymentId: Id },
  query: {
    parentId: Maybe(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'List this folder; 0 or absent for the root',
      }),
    ),
    recursive: Maybe(Type.Boolean({ description: 'Also list every level below' })),
    embedTenantName,
    ...cursorQuery,
  },
  reply: ListResponse('FoldersListResponse', Folder),
  audit: 'none',
});

export const createFolder = operation({
  ...common,
  embed: 'creator',
  id: 'createFolder',
  method: 'POST',
  path,
  summary: 'Create a folder',
  description: 'The new folder is the last one at its place. Folders are at most 32 levels deep.',
  permission: 'AIBIExplore',
  params: { deploymentId: Id },
  body: Shape('CreateFolderInput', {
    name: Name,
    parentId: OptionalId,
    position,
  }),
  reply: Folder,
  errors: ['folder_not_found', 'folder_too_deep', 'tree_busy', 'embed_content_limit_reached'],
  audit: 'folder',
});

export const updateFolder = operation({
  ...common,
  embed: 'creator',
  id: 'updateFolder',
  method: 'PUT',
  path: `${path}/{folderId}`,
  summary: 'Rename a folder, or change its position',
  description: 'To put it into another folder, use `moveWorkspaceObject`.',
  permission: 'FolderEdit',
  permissionOn: 'resource',
  params: one,
  body: Shape('UpdateFolderInput', { name: Maybe(Name), position }),
  reply: Folder,
  errors: ['folder_not_found', 'tree_busy'],
  audit: 'folder',
});

export const deleteFolder = operation({
  ...common,
  embed: 'creator',
  id: 'deleteFolder',
  method: 'DELETE',
  path: `${path}/{folderId}`,
  summary: 'Delete a folder',
  description:
    'Workbooks and reports in the folder move to the root. If the folder contains folders, the reply is a 409. With `recursive=true`, everything below the folder is deleted too; the caller must be allowed to manage all of it. Deleted items disappear for everybody at the same moment, however many there are.',
  permission: 'FolderManage',
  permissionOn: 'resource',
  params: one,
  query: {
    recursive: Maybe(Type.Boolean({ description: 'Delete everything below the folder too' })),
  },
  reply: Nothing,
  errors: ['folder_not_found', 'folder_not_empty', 'tree_busy'],
  audit: 'folder',
});

export const getFolderAncestors = operation({
  ...common,
  embed: 'creator',
  id: 'getFolderAncestors',
  method: 'GET',
  path: `${path}/{folderId}/ancestors`,
  trailingSlash: true,
  summary: 'Get the path to a folder: the folders above it from the root down, and the folder itself',
  description: 'For the line of links above a page.',
  permission: 'FolderRead',
  permissionOn: 'resource',
  params: one,
  reply: Type.Array(Folder),
  errors: ['folder_not_found'],
  audit: 'none',
});
