import { Type } from 'typebox';
import {
  CloudProvider,
  CreationMethod,
  CreationStep,
  DeployMode,
  Deployment,
  DeploymentsPagination,
  offsetQuery,
  ReleaseChannel,
} from '../deployments.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { operation } from '../operation.ts';
import { cursorQuery, Id, Maybe, Name, PageInfo, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Deployment Creation': 'Create deployments.',
  Deployments: 'A deployment holds folders, workbooks, reports and a data model.',
} satisfies TagDefinitions;

export const errors = {
  deployment_limit_reached: { status: 409, message: 'The installation has 10,000 deployments already.' },
  creation_step_not_allowed: { status: 409, message: 'This step cannot follow the current one.' },
} as const satisfies ErrorDefinitions;

const common = { tag: 'Deployments', auth: 'management' } as const;
const path = '/api/v1/deployments/{deploymentId}';
const params = { deploymentId: Id };

const DeploymentsListResponse = Shape('DeploymentsListResponse', {
  items: Type.Array(Deployment),
  data: Type.Array(Deployment, { deprecated: true, description: 'The same as `items`' }),
  count: Maybe(Type.Integer({ minimum: 0, deprecated: true, description: 'The same as `totalCount`' })),
  totalCount: Maybe(Type.Integer({ minimum: 0 })),
  pageInfo: Maybe(PageInfo),
  pagination: DeploymentsPagination,
});

const CreateDeploymentInput = Shape(
  'CreateDeploymentInput',
  {
    name: Name,
    cloudProvider: CloudProvider,
    creationMethod: Maybe(CreationMethod),
    creationStep: CreationStep,
    deployMode: Maybe(DeployMode),
    isManaged: Type.Boolean(),
    region: Type.String({ description: 'The `name` of a region' }),
    targetPlatform: Type.String({ minLength: 1, maxLength: 255 }),
  },
  {
    examples: [
      {
        name: 'Production',
        cloudProvider: 'managed',
        creationStep: 'ready',
        isManaged: true,
        region: 'local',
        targetPlatform: 'embedded',
      },
    ],
  },
);

export const getDeployments = operation({
  ...common,
  id: 'getDeployments',
  method: 'GET',
  path: '/api/v1/deployments',
  summary: 'List deployments',
  description:
    'The deployments that the caller may read, oldest first. Page with `first` and `after`; `offset` and `limit` are the older way and return `pageInfo: null`.',
  permission: 'DeploymentRead',
  query: {
    creationStep: Type.Optional(
      Type.Array(CreationStep, {
        description: 'Only deployments in these steps; may be repeated',
        maxItems: 8,
      }),
    ),
    ...offsetQuery,
    ...cursorQuery,
  },
  reply: DeploymentsListResponse,
  errors: ['mixed_pagination'],
  scopedKeys: 'handler',
  audit: 'none',
});

export const getDeployment = operation({
  ...common,
  id: 'getDeployment',
  method: 'GET',
  path,
  summary: 'Get a deployment',
  description: 'Only what lists show; `getDeploymentSettings` returns everything.',
  permission: 'DeploymentRead',
  params,
  reply: Deployment,
  audit: 'none',
});

export const createDeployment = operation({
  ...common,
  id: 'createDeployment',
  tag: 'Deployment Creation',
  method: 'POST',
  path: '/build/api/v1/deployments',
  trailingSlash: true,
  summary: 'Create a deployment',
  description: 'It starts with a small data model on the branch `main`, which is being built.',
  permission: 'DeploymentCreate',
  body: CreateDeploymentInput,
  reply: Deployment,
  errors: ['region_not_found', 'deployment_limit_reached'],
  scopedKeys: 'refused',
  audit: 'deployment',
});

export const addDemo = operation({
  ...common,
  id: 'addDemo',
  tag: 'Deployment Creation',
  method: 'POST',
  path: '/api/v1/demo',
  summary: 'Add the demo',
  description:
    'A deployment with data of a shop, a data model, reports and two published dashboards, and the groups and user attributes that they are about, if there are none with these names. If the demo is there, nothing changes. Deleting its deployment removes it.',
  permission: 'All',
  reply: Deployment,
  errors: ['deployment_limit_reached'],
  scopedKeys: 'refused',
  audit: 'deployment',
});

export const deleteDeployment = operation({
  ...common,
  id: 'deleteDeployment',
  method: 'DELETE',
  path,
  summary: 'Delete a deployment and everything in it',
  description: 'When the reply arrives, it is gone for everybody. Its running jobs stop soon after.',
  permission: 'DeploymentDelete',
  params,
  reply: Shape('DeploymentDeleteResponse', { success: Type.Boolean() }),
  audit: 'deployment',
});

export const advanceCreationStep = operation({
  ...common,
  id: 'advanceCreationStep',
  method: 'POST',
  path: `${path}/creation-step/advance`,
  summary: 'Go on to a later step of the creation',
  description:
    'For programs that guide people through the creation. Only the step changes; each step allows certain later ones.',
  permission: 'DeploymentUpdate',
  params,
  body: Shape('AdvanceCreationStepInput', { creationStep: CreationStep }),
  reply: Deployment,
  errors: ['creation_step_not_allowed'],
  audit: 'deployment',
});

export const resetCreationStep = operation({
  ...common,
  id: 'resetCreationStep',
  method: 'POST',
  path: `${path}/creation-step/reset`,
  summary: 'Go back to the first step of the creation',
  description: 'Only the step changes: the data model, the settings and all content stay.',
  permission: 'DeploymentUpdate',
  params,
  reply: Deployment,
  audit: 'deployment',
});

const DeploymentVersion = Shape('DeploymentVersion', {
  version: Type.String(),
  releaseChannel: ReleaseChannel,
  releaseChannelVersion: Type.String(),
  isCurrent: Type.Boolean(),
  isLatestInChannel: Type.Boolean(),
});

export const listDeploymentVersions = operation({
  ...common,
  id: 'listDeploymentVersions',
  method: 'GET',
  path: `${path}/versions`,
  summary: 'List the versions of Oriel that can serve the deployment',
  description: 'An installation has one: the version of this server.',
  permission: 'DeploymentRead',
  params,
  query: cursorQuery,
  reply: Shape('DeploymentVersionsResponse', {
    items: Type.Array(DeploymentVersion),
    data: Type.Array(DeploymentVersion, { deprecated: true, description: 'The same as `items`' }),
    pageInfo: PageInfo,
  }),
  audit: 'none',
});
