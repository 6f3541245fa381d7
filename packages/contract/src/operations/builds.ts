import { Type } from 'typebox';
import { DataModelError } from '../data-model.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Maybe, Nullable, Shape } from '../schemas.ts';

export const errors = {
  branch_not_active: {
    status: 409,
    message: 'Branch is not active: nobody is in dev mode on it, and it is not a staging branch.',
  },
} as const satisfies ErrorDefinitions;

const branchName = (description: string) =>
  Maybe(Type.String({ description, maxLength: 200, examples: ['main'] }));

const BuildStatusResponse = Shape('BuildStatusResponse', {
  branchName: Type.String(),
  deploymentId: Id,
  buildJobId: Maybe(Type.Integer({ description: 'The id of the newest build of the branch' })),
  status: Type.Enum(['built', 'building', 'warmup', 'failed', 'cancelled', 'stopped', 'none'], {
    description:
      'Of the newest build. `none`: nothing was built; `stopped`: the branch is not active, so it is not built',
  }),
  deploymentStatus: Maybe(
    Type.String({
      description: '`built` if an earlier or the newest build of the branch serves queries, else `none`',
    }),
  ),
  errorText: Maybe(
    Type.String({
      description:
        'What is wrong, a line for each error, with file, line and column. Errors of uncommitted changes are shown only to those who are in dev mode on the branch',
    }),
  ),
  lastHash: Maybe(Type.String({ description: 'The commit that was built' })),
  filesHash: Maybe(Type.String({ description: 'The tree of files that was built, as git names it' })),
  mode: Type.Enum(['production', 'staging', 'development'], { description: 'What the branch is used for' }),
  updatedAt: Maybe(DateTime),
});

export const buildStatus = operation({
  id: 'buildStatus',
  tag: 'Deployments',
  method: 'GET',
  path: '/api/v1/deployments/{deploymentId}/build-status',
  summary: 'Get the status of the newest build of a branch',
  description:
    'Every change of the deploy branch, of a staging branch or of a branch in dev mode is built. A broken build does not replace the last good one. For a branch that does not exist, `errorText` begins with `Bad branch`.',
  auth: 'management',
  permission: 'SchemaRead',
  params: { deploymentId: Id },
  query: {
    branchName: branchName(
      'Without it, the branch that an upload without a branch goes to: the deploy branch if `deployMode` is `cli`, also if the caller is in dev mode, or else the branch that the caller entered last in dev mode, or the deploy branch',
    ),
  },
  reply: BuildStatusResponse,
  audit: 'none',
});

const Build = Shape('Build', {
  id: { ...Id, description: 'The number of the build' },
  status: Type.Enum(['waiting', 'building', 'built', 'failed', 'cancelled'], {
    description: '`cancelled`: nobody wanted it any more, such as when dev mode was left',
  }),
  lastHash: Nullable(Type.String({ description: 'The commit that was built; null before it begins' })),
  errorText: Nullable(Type.String({ description: 'What is wrong, as in `buildStatus`' })),
  cubesCount: Nullable(
    Type.Integer({ minimum: 0, description: 'How many cubes there are; null if it failed' }),
  ),
  createdAt: { ...DateTime, description: 'When it was asked for' },
  startedAt: Nullable({ ...DateTime, description: 'When it began; null if it waits' }),
  finishedAt: Nullable({ ...DateTime, description: 'When it ended; null if it has not' }),
});

export const listBuilds = operation({
  id: 'listBuilds',
  tag: 'Deployments',
  method: 'GET',
  path: '/api/v1/deployments/{deploymentId}/builds',
  summary: 'List the builds of a branch',
  description: 'Newest first: the newest fifty, and the last good one.',
  auth: 'management',
  permission: 'SchemaRead',
  params: { deploymentId: Id },
  query: { branchName: branchName('The deploy branch by default'), ...cursorQuery },
  reply: CursorPage('BuildsResponse', Build),
  errors: ['branch_not_found'],
  audit: 'none',
});

export const startBuild = operation({
  id: 'startBuild',
  tag: 'Deployments',
  method: 'POST',
  path: '/api/v1/deployments/{deploymentId}/builds',
  summary: 'Build a branch again',
  description:
    'Every change is built by itself, so this is for a build that failed for another reason than the model. A build that waits already is not added twice.',
  auth: 'management',
  permission: 'SchemaUpdate',
  params: { deploymentId: Id },
  body: Shape(
    'StartBuildInput',
    { branchName: branchName('The deploy branch by default') },
    { examples: [{ branchName: 'main' }] },
  ),
  optionalBody: true,
  reply: Build,
  errors: ['branch_not_found', 'branch_not_active'],
  audit: 'build',
});

export const validateDataModel = operation({
  id: 'validateDataModel',
  tag: 'Data Model',
  method: 'GET',
  path: '/build/api/v1/deployments/{deploymentId}/data-model/validate',
  summary: 'Check the data model of a branch now',
  description:
    'Compiles the files as a build does, and returns at most a hundred errors and twenty warnings. Nothing is stored.',
  auth: 'management',
  permission: 'SchemaRead',
  params: { deploymentId: Id },
  query: {
    branchName: branchName(
      'Without it, the branch that the caller entered last in dev mode, or the deploy branch',
    ),
    devMode: Maybe(
      Type.Boolean({
        description:
          'False leaves out uncommitted changes. They are checked only for those who are in dev mode on the branch',
      }),
    ),
  },
  // The check may wait behind others, and each of them has 30 seconds.
  timeoutMs: 90_000,
  reply: Shape('ValidateDataModelResponse', {
    valid: Type.Boolean(),
    errors: Type.Array(DataModelError),
    warnings: Type.Array(DataModelError, {
      description: 'What may not be meant, but does not stop a build. None while there are errors',
    }),
    cubesCount: Type.Integer({ minimum: 0 }),
    branchName: Type.String(),
  }),
  errors: ['branch_not_found'],
  audit: 'none',
});
