import { Type } from 'typebox';
import { BranchName, branchInBody, dataModelLimits, FilePath } from '../data-model.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { Bytes } from '../kinds.ts';
import { operation } from '../operation.ts';
import { LOAD_TIMEOUT_MS, PERSONAL_ERRORS, RUN_ERRORS } from '../query-errors.ts';
import { CursorPage, cursorQuery, Id, Maybe, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Data Sources':
    'Where the data of a deployment is: databases and files that its variables describe. The source `default` is described by `DB_TYPE`, `DB_HOST` and so on, another one by `DS_<NAME>_DB_TYPE` and so on.',
} satisfies TagDefinitions;

export const errors = {
  data_source_not_found: {
    status: 404,
    message: 'The variables of the deployment describe no data source of this name.',
  },
  data_source_invalid: { status: 409, message: 'The variables that describe the data source are wrong.' },
  data_source_failed: { status: 503, message: 'The data source cannot be reached, or cannot be read.' },
} as const satisfies ErrorDefinitions;

const common = { tag: 'Data Sources', auth: 'management' } as const;
const path = '/build/api/v1/deployments/{deploymentId}/data-sources/{name}';
const SourceName = Type.String({
  maxLength: 100,
  description: '`default`, or the name in `DS_<NAME>_DB_…`, in small letters',
  examples: ['default'],
});
const params = { deploymentId: Id, name: SourceName };
const foundErrors = [
  ...PERSONAL_ERRORS,
  'data_source_not_found',
  'data_source_invalid',
  'source_not_configured',
  'source_busy',
] as const;
const sourceErrors = [...foundErrors, 'data_source_failed'] as const;
/** Longer than the engine waits for the source. */
const TIMEOUT_MS = 60_000;

const TableColumn = Shape('DataSourceColumn', {
  name: Type.String(),
  type: Type.Enum(['number', 'time', 'boolean', 'string', 'other']),
  nativeType: Type.String({ description: 'As the data source names it', examples: ['numeric(10,2)'] }),
  isNullable: Type.Boolean(),
});

const ForeignKey = Shape('DataSourceForeignKey', {
  columns: Type.Array(Type.String()),
  toSchema: Type.String(),
  toTable: Type.String(),
  toColumns: Type.Array(Type.String()),
});

const Table = Shape('DataSourceTable', {
  schema: Type.String({ description: 'Files are in the schema `files`', examples: ['public'] }),
  name: Type.String({ examples: ['orders'] }),
  columns: Type.Array(TableColumn),
  primaryKey: Type.Array(Type.String()),
  foreignKeys: Type.Array(ForeignKey),
});

export const listDataSourceTables = operation({
  ...common,
  id: 'listDataSourceTables',
  method: 'GET',
  path: `${path}/tables`,
  summary: 'List the tables of a data source',
  description:
    'Tables and views that the user of the data source can read, by schema and name. Parquet and CSV files count as tables.',
  permission: 'SchemaRead',
  params,
  query: cursorQuery,
  timeoutMs: TIMEOUT_MS,
  reply: CursorPage('DataSourceTablesListResponse', Table),
  errors: [...sourceErrors],
  audit: 'none',
});

export const testDataSource = operation({
  ...common,
  id: 'testDataSource',
  method: 'POST',
  path: `${path}/test`,
  summary: 'Try to reach a data source',
  description: 'The reply is a success whether or not the source can be reached; it says so in one line.',
  permission: 'SchemaUpdate',
  params,
  timeoutMs: TIMEOUT_MS,
  reply: Shape('DataSourceTestResponse', {
    isReachable: Type.Boolean(),
    message: Type.String({ examples: ['PostgreSQL 18.1 answers.'] }),
    reason: Maybe(
      Type.Enum(
        [
          'connection_refused',
          'unknown_host',
          'password_wrong',
          'database_missing',
          'tls',
          'private_address',
          'timeout',
          'other',
        ],
        { description: 'Why it cannot be reached, for programs; null if it can' },
      ),
    ),
  }),
  errors: [...foundErrors],
  audit: 'none',
});

const name = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 255, description, examples: [example] });

export const generateDataModel = operation({
  id: 'generateDataModel',
  tag: 'Data Model',
  auth: 'management',
  method: 'POST',
  path: '/build/api/v1/deployments/{deploymentId}/data-model/generate',
  summary: 'Draft cubes for tables of a data source',
  description:
    'Writes a file for each table to a branch in dev mode: its key, joins to the other tables, dimensions, a count, sums and averages. Files that exist stay as they are, unless `overwrite` is true.',
  permission: 'SchemaUpdate',
  params: { deploymentId: Id },
  timeoutMs: TIMEOUT_MS,
  body: Shape('GenerateDataModelInput', {
    ...branchInBody,
    dataSource: Maybe({ ...SourceName, description: '`default` if it is not given' }),
    tables: Maybe(
      Type.Array(
        Shape('TableToDraft', {
          schema: Maybe(name('Needed if two schemas have a table of this name', 'public')),
          name: name('The name of the table', 'orders'),
        }),
        {
          minItems: 1,
          maxItems: dataModelLimits.filesPerRequest,
          description: 'All tables if it is not given',
        },
      ),
    ),
    overwrite: Maybe(Type.Boolean({ description: 'Whether to replace files that exist' })),
  }),
  reply: Shape('GenerateDataModelResponse', {
    branchName: BranchName,
    written: Type.Array(FilePath),
    skipped: Type.Array(FilePath, { description: 'Files that existed before' }),
  }),
  errors: [
    ...sourceErrors,
    'branch_not_found',
    'not_in_dev_mode',
    'invalid_reference',
    'invalid_file',
    'file_path_taken',
    'data_model_too_large',
  ],
  audit: 'branch',
});

export const sampleDataSourceTable = operation({
  ...common,
  id: 'sampleDataSourceTable',
  method: 'GET',
  path: `${path}/sample`,
  summary: 'Read some rows of a table, and count its rows',
  description:
    'For people who draft a model. The rows are those of the data source itself: policies of the model do not apply. Texts are cut after 200 characters.',
  permission: 'DataAssetsRead',
  params,
  query: {
    schema: name('The schema of the table', 'files'),
    table: name('The name of the table', 'orders'),
  },
  timeoutMs: TIMEOUT_MS,
  rate: { max: 60, perSeconds: 60 },
  reply: Shape('DataSourceSample', {
    columns: Type.Array(Type.String(), {
      description: 'The names of the columns, in their order; at most 200',
    }),
    rows: Type.Array(Type.Array(Type.Union([Type.String(), Type.Null()])), {
      description: 'At most twenty rows, with the values of the columns as texts',
    }),
    rowCount: Maybe(
      Type.Integer({ minimum: 0, description: 'Null if counting took longer than ten seconds' }),
    ),
  }),
  errors: [...sourceErrors, 'invalid_reference'],
  audit: 'none',
});

export const queryDataSource = operation({
  ...common,
  id: 'queryDataSource',
  method: 'POST',
  path: `${path}/sql`,
  summary: 'Run SQL of the data source itself',
  description:
    'Runs one SELECT in the words of the data source, outside of the data model: **its policies do not apply**, and the rows are all that the user of the data source may read. Nothing can be changed by it. At most 50,000 rows. The audit log has each statement, also those that fail. Returns lines of JSON: the columns as `schema`, the rows as `data`, and `rowsCapped`.',
  permission: 'SqlRunnerRead',
  rate: { max: 60, perSeconds: 60 },
  params,
  timeoutMs: LOAD_TIMEOUT_MS,
  body: Shape('QueryDataSourceInput', {
    query: Type.String({
      minLength: 1,
      maxLength: 20_000,
      description: 'One SELECT in the SQL of the data source',
      examples: ['select status, count(*) from files.orders group by 1'],
    }),
  }),
  reply: Bytes('application/jsonl'),
  errors: [...RUN_ERRORS, 'source_not_configured', 'too_many_queries'],
  audit: 'dataSourceQuery',
});
