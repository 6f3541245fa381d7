import { Type } from 'typebox';
import { DataModelError } from '../data-model.ts';
import { operation } from '../operation.ts';
import { DateTime, Id, Maybe, Shape } from '../schemas.ts';

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
  // Other checks may be before it, and each of them has 30 seconds.
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
