import { Type } from 'typebox';
import {
  BranchName,
  branchInBody,
  CommitHash,
  DataModelWriteResponse,
  dataModelLimits,
  FilePath,
} from '../data-model.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { sameAs } from '../hoist.ts';
import { operation } from '../operation.ts';
import { cursorQuery, Id, Maybe, PageInfo, Shape } from '../schemas.ts';

export const errors = {
  invalid_file: { status: 400, message: 'A path or the content of a file is not allowed.' },
  page_required: {
    status: 400,
    message: 'The list of all files is too large for one reply: ask for pages with `first`.',
  },
  file_path_taken: { status: 409, message: 'Another file has this path.' },
  data_model_too_large: {
    status: 409,
    message: 'A data model can have 10,000 files, 20,000 folders and 100 MB.',
  },
  data_model_storage_full: {
    status: 409,
    message:
      'The data model and its history take the 10 GB that a deployment can store. Delete branches that are not needed: what nothing uses any more is removed within two hours.',
  },
} as const satisfies ErrorDefinitions;

const path = '/build/api/v1/deployments/{deploymentId}/data-model';
const common = { tag: 'Data Model', auth: 'management', params: { deploymentId: Id } } as const;
const writing = {
  ...common,
  permission: 'SchemaUpdateDevBranches',
  bodyLimitBytes: dataModelLimits.requestBytes,
  reply: DataModelWriteResponse,
  audit: 'branch',
} as const;

/** A file, or a folder with its children. */
const SourceTreeNode = Type.Unsafe<SourceNode>({
  title: 'SourceTreeNode',
  type: 'object',
  properties: {
    path: { type: 'string', description: 'The whole path, from the root of the data model' },
    type: { type: 'string', enum: ['file', 'directory'] },
    content: { type: 'string', description: 'Of a file, if `withContent` asks for it' },
    encoding: { type: 'string', enum: ['base64'], description: 'Of a file that is not text in UTF-8' },
    children: {
      type: 'array',
      description: 'Of a directory: its files and directories, in the same form',
      items: sameAs('SourceTreeNode'),
    },
  },
  required: ['path', 'type'],
  additionalProperties: false,
});

export interface SourceNode {
  path: string;
  type: 'file' | 'directory';
  content?: string;
  encoding?: 'base64';
  children?: SourceNode[];
}

export const listFiles = operation({
  ...common,
  id: 'listFiles',
  method: 'GET',
  path: `${path}/files`,
  summary: 'List the files of a branch',
  description:
    'As a tree, in the order of their paths. A branch on which the caller is in dev mode is shown with its uncommitted changes. Without `branchName`, it is the branch on which the caller entered dev mode last, or the deploy branch. Without `first`, the reply holds all files. With `first`, it holds that many files and the folders that they are in.',
  permission: 'SchemaRead',
  query: {
    branchName: Maybe(BranchName),
    withContent: Maybe(Type.Boolean()),
    showLastCLIUpload: Maybe(
      Type.Boolean({ description: 'The files as the last upload to the branch left them; none without one' }),
    ),
    commit: Maybe({
      ...CommitHash,
      description: 'The files as this commit has them, instead of the newest ones of the branch',
    }),
    first: Type.Optional({ ...cursorQuery.first, description: 'The number of files in a page' }),
    after: cursorQuery.after,
  },
  reply: Shape('SourceTreeResponse', {
    items: Type.Array(SourceTreeNode),
    data: Type.Array(SourceTreeNode, { deprecated: true, description: 'The same as `items`' }),
    pageInfo: PageInfo,
  }),
  errors: ['branch_not_found', 'commit_not_found', 'page_required'],
  audit: 'none',
});

const files = <S extends Parameters<typeof Type.Array>[0]>(item: S) =>
  Type.Array(item, { minItems: 1, maxItems: dataModelLimits.filesPerRequest });

export const updateFiles = operation({
  ...writing,
  id: 'updateFiles',
  method: 'PUT',
  path: `${path}/files`,
  summary: 'Write files',
  description: 'Creates files, or replaces their content. Other files stay as they are.',
  body: Shape(
    'UpdateDataModelFilesInput',
    {
      ...branchInBody,
      files: files(
        Shape('DataModelFileContent', {
          path: FilePath,
          content: Type.String({
            maxLength: Math.ceil(dataModelLimits.fileBytes / 3) * 4,
            description: 'Up to 1 MB',
          }),
          encoding: Maybe(
            Type.Enum(['utf8', 'base64'], {
              description:
                'How `content` stands for bytes. Files of the model, `.yml` and `.yaml`, must be text',
            }),
          ),
        }),
      ),
    },
    { examples: [{ files: [{ path: 'model/cubes/orders.yml', content: 'cubes: []\n' }] }] },
  ),
  errors: [
    'branch_not_found',
    'not_in_dev_mode',
    'invalid_file',
    'file_path_taken',
    'data_model_too_large',
    'data_model_storage_full',
  ],
});

export const removeFiles = operation({
  ...writing,
  id: 'removeFiles',
  method: 'DELETE',
  path: `${path}/files`,
  summary: 'Remove files',
  description:
    'All of them, or none if one does not exist. They are gone from the branch after the next commit; its history keeps them.',
  body: Shape('RemoveDataModelFilesInput', {
    ...branchInBody,
    files: files(Shape('DataModelFilePath', { path: FilePath })),
  }),
  errors: ['branch_not_found', 'not_in_dev_mode', 'invalid_file', 'invalid_reference'],
});

export const renameFiles = operation({
  ...writing,
  id: 'renameFiles',
  method: 'POST',
  path: `${path}/files/rename`,
  summary: 'Rename files, or move them to other folders',
  description: 'All of them, or none if one cannot be renamed. The new paths must be free.',
  body: Shape('RenameDataModelFilesInput', {
    ...branchInBody,
    files: files(Shape('DataModelFileRename', { path: FilePath, newPath: FilePath })),
  }),
  errors: [
    'branch_not_found',
    'not_in_dev_mode',
    'invalid_file',
    'invalid_reference',
    'file_path_taken',
    'data_model_too_large',
    'data_model_storage_full',
  ],
});

export const getModelSchema = operation({
  id: 'getModelSchema',
  conditional: 'sent',
  tag: 'Data Model',
  method: 'GET',
  path: '/api/v1/schemas/model.json',
  summary: 'Get the JSON Schema of the modelling language',
  description:
    'For editors that complete and check YAML. It is made from the keys that the compiler knows, each with what it does. What needs more than one file, such as references to other cubes, only a build checks.',
  auth: 'public',
  permission: 'none',
  reply: Type.Object({}, { additionalProperties: true }),
  audit: 'none',
});
