import { Type } from 'typebox';
import { BranchName, CommitMessage, dataModelLimits, FilePath } from '../data-model.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { Multipart } from '../kinds.ts';
import { operation } from '../operation.ts';
import { Id, Maybe, RecordOf, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Data Model Uploads': 'Uploads of a whole data model, by command-line tools and other automation.',
} satisfies TagDefinitions;

export const errors = {
  upload_not_found: {
    status: 404,
    message:
      'There is no such upload. An upload ends an hour after its start, or when many newer ones began.',
  },
  unknown_file_hashes: {
    status: 400,
    message: 'Files were neither sent in this upload nor are they on the branch.',
  },
  upload_finished: { status: 409, message: 'This upload is finished, so it cannot be changed any more.' },
  upload_too_large: {
    status: 409,
    message: 'An upload takes 20,000 files and 200 MB, where a file that is sent again counts again.',
  },
} as const satisfies ErrorDefinitions;

const path = '/build/api/v1/deployments/{deploymentId}/data-model';
const common = { tag: 'Data Model Uploads', auth: 'management', params: { deploymentId: Id } } as const;

const query = {
  branchName: Maybe(BranchName),
  live: Maybe(
    Type.Boolean({
      description:
        'Change the files of a branch in dev mode without a commit. Without a branch, it is the one that the caller entered last',
    }),
  ),
  useDeployProjectRoot: Maybe(
    Type.Boolean({
      description:
        'Paths are relative to the `deployProjectRoot` of the deployment, and files elsewhere are left alone',
    }),
  ),
};

const UploadTransaction = Shape('UploadTransaction', { id: Type.String({ minLength: 1, maxLength: 100 }) });
const FileHash = Shape('FileHash', {
  hash: Type.String({
    minLength: 40,
    maxLength: 40,
    description: 'The SHA-1 of the bytes of the file, in hex',
    examples: ['2fd4e1c67a2d28fced849ee1bb76e7391b93eb12'],
  }),
});
const Hashes = RecordOf(FileHash, { maxProperties: dataModelLimits.files });

export const fileHashes = operation({
  ...common,
  id: 'fileHashes',
  method: 'GET',
  path: `${path}/file-hashes`,
  summary: 'List the hashes of all files of a branch',
  description:
    'A tool compares them with its own files, and sends those that differ. Without `branchName` it is the deploy branch if the deployment is deployed by uploads, or else the branch on which the caller entered dev mode last.',
  permission: 'SchemaRead',
  query,
  reply: Hashes,
  errors: ['branch_not_found'],
  audit: 'none',
});

export const startUpload = operation({
  ...common,
  id: 'startUpload',
  method: 'POST',
  path: `${path}/upload/start`,
  summary: 'Start an upload',
  description:
    'Nothing changes before the upload is finished. Uploads to the deploy branch need a deployment whose `deployMode` is `cli`, and the action `SchemaUpdate`. A deployment without a mode gets `cli` by this.',
  permission: 'SchemaUpdateDevBranches',
  query,
  body: Shape('StartUploadBody', query),
  optionalBody: true,
  reply: Shape('StartUploadResponse', { deploymentName: Type.String(), transaction: UploadTransaction }),
  errors: ['branch_not_found', 'not_in_dev_mode', 'uncommitted_changes', 'deploy_branch_read_only'],
  audit: 'upload',
});

export const uploadFile = operation({
  ...common,
  id: 'uploadFile',
  method: 'POST',
  path: `${path}/upload/file`,
  summary: 'Send a file of an upload',
  description:
    'A file that is sent again replaces the one that was sent before. `branchName`, `live` and `useDeployProjectRoot` are those of the start, and need not be repeated.',
  permission: 'SchemaUpdateDevBranches',
  query,
  body: Multipart(
    Shape('UploadFileBody', {
      transaction: Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The id of the upload, or the JSON text `{"id":"…"}`',
      }),
      fileName: { ...FilePath, description: 'The path of the file' },
    }),
    { file: { maxBytes: dataModelLimits.fileBytes } },
  ),
  reply: Shape('UploadFileResponse', { success: Type.Boolean() }),
  errors: [
    'upload_not_found',
    'upload_finished',
    'invalid_file',
    'upload_too_large',
    'data_model_storage_full',
  ],
  audit: 'none',
});

export const finishUpload = operation({
  ...common,
  id: 'finishUpload',
  method: 'POST',
  path: `${path}/upload/finish`,
  summary: 'Finish an upload',
  description:
    'All files change together, in one commit. If the branch has changed since the start of the upload, nothing changes. The same request again, within an hour, gets the same reply and changes nothing.',
  permission: 'SchemaUpdateDevBranches',
  query,
  body: Shape('FinishUploadBody', {
    transaction: Type.Union([UploadTransaction, UploadTransaction.properties.id], {
      description: 'As the start returned it, or only its id',
    }),
    files: RecordOf(FileHash, {
      maxProperties: dataModelLimits.files,
      description: 'All files, by their paths. What was sent but is not named here is not used',
    }),
    branchName: Maybe(BranchName),
    commitMessage: Maybe(CommitMessage),
    autoRemoveFiles: Maybe(
      Type.Boolean({ description: 'Whether files that `files` does not name are removed; true by default' }),
    ),
    awaitGitOperations: Maybe(
      Type.Boolean({ description: 'Without effect: the commit is always made before the reply' }),
    ),
  }),
  bodyLimitBytes: 4 * 1024 * 1024,
  reply: Shape('FinishUploadResponse', { lastHash: Maybe(Type.String()) }),
  errors: [
    'upload_not_found',
    'upload_finished',
    'invalid_file',
    'unknown_file_hashes',
    'file_path_taken',
    'branch_changed',
    'not_in_dev_mode',
    'deploy_branch_read_only',
    'data_model_too_large',
    'data_model_storage_full',
  ],
  timeoutMs: 60_000,
  audit: 'upload',
});
