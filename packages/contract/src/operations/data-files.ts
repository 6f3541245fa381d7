import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { BytesBody } from '../kinds.ts';
import { Nothing, operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Shape } from '../schemas.ts';

export const errors = {
  data_file_not_found: { status: 404, message: 'There is no such file.' },
  data_file_invalid: { status: 400, message: 'The file is not what its name says.' },
  data_file_name_taken: { status: 409, message: 'Another file makes the same table.' },
  too_many_data_files: { status: 409, message: 'The deployment has as many files as it may have.' },
  data_files_too_large: {
    status: 409,
    message: 'The files of the deployment would have more bytes together than the server allows.',
  },
} as const satisfies ErrorDefinitions;

const FILE_BYTES_MAX = 1024 ** 3;

const common = { tag: 'Data Sources', auth: 'management' } as const;
const path = '/build/api/v1/deployments/{deploymentId}/data-files';
const FileName = Type.String({
  maxLength: 200,
  description:
    'Letters, digits, `_`, `-`, dots and spaces, with `.csv` or `.parquet` at the end. What is before the ending is the name of the table in the schema `files`',
  examples: ['orders.csv'],
});
const params = { deploymentId: Id, fileName: FileName };

const DataFile = Shape('DataFile', {
  name: Type.String({ description: 'The name of the file', examples: ['orders.csv'] }),
  table: Type.String({ description: 'The table that queries read', examples: ['files.orders'] }),
  size: Type.Integer({ minimum: 0, description: 'In bytes' }),
  changedAt: { ...DateTime, description: 'When the file was written last' },
});

export const listDataFiles = operation({
  ...common,
  id: 'listDataFiles',
  method: 'GET',
  path,
  summary: 'List the files of a deployment',
  description: 'The Parquet and CSV files that are tables of the DuckDB of the deployment, by name.',
  permission: 'DataAssetsRead',
  params: { deploymentId: Id },
  query: cursorQuery,
  reply: CursorPage('DataFilesListResponse', DataFile),
  audit: 'none',
});

export const uploadDataFile = operation({
  ...common,
  id: 'uploadDataFile',
  method: 'PUT',
  path: `${path}/{fileName}`,
  summary: 'Upload a file',
  description:
    'Writes a Parquet or CSV file into the folder of the deployment, where it is a table at once: `orders.csv` is `files.orders`. A file of this name is replaced in one step, so a query reads the old file or the new one. A file has at most 1 GB, and all files of a deployment as much together as the setting `ORIEL_DATA_FILES_MB` says. With several servers, their data dirs must share the folder `files`.',
  permission: 'DataAssetsManage',
  params,
  body: BytesBody(['text/csv', 'application/vnd.apache.parquet', 'application/octet-stream'], FILE_BYTES_MAX),
  timeoutMs: 15 * 60_000,
  rate: { max: 60, perSeconds: 60 },
  reply: DataFile,
  errors: ['data_file_invalid', 'data_file_name_taken', 'too_many_data_files', 'data_files_too_large'],
  audit: 'dataFile',
});

export const deleteDataFile = operation({
  ...common,
  id: 'deleteDataFile',
  method: 'DELETE',
  path: `${path}/{fileName}`,
  summary: 'Delete a file',
  description: 'Its table is gone for the next query. Cubes that read the table fail.',
  permission: 'DataAssetsManage',
  params,
  reply: Nothing,
  errors: ['data_file_not_found'],
  audit: 'dataFile',
});
