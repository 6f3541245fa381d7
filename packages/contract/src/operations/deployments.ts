import { Type } from 'typebox';
import { operation } from '../operation.ts';
import { cursorQuery, Id, Maybe, Name, PageInfo, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Deployment Creation': 'Create deployments.',
  Deployments: 'A deployment holds folders, workbooks, reports and a data model.',
} satisfies TagDefinitions;

const CreationStep = Type.Enum(
  ['project', 'upload', 'schema', 'git-host', 'ssh', 'databases', 'ready', 'demo'],
  { title: 'CreationStep' },
);

const Deployment = Shape('Deployment', {
  id: Id,
  name: Type.String(),
  creationStep: CreationStep,
  deploymentUrl: Type.String({ description: 'The address at which the deployment answers queries' }),
});

const DeploymentsPagination = Shape('DeploymentsPagination', {
  limit: Type.Integer({ minimum: 0 }),
  offset: Type.Integer({ minimum: 0 }),
  total: Type.Integer({ minimum: 0 }),
});

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
    cloudProvider: Type.Enum(['managed', 'aws', 'gcp']),
    creationMethod: Maybe(Type.Enum(['upload', 'managed', 'git-host', 'ssh'])),
    creationStep: CreationStep,
    deployMode: Maybe(Type.Enum(['git', 'cli'])),
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
  id: 'getDeployments',
  tag: 'Deployments',
  method: 'GET',
  path: '/api/v1/deployments',
  summary: 'List deployments',
  description:
    'The deployments that the caller may read, oldest first. Page with `first` and `after`; `offset` and `limit` are the older way and return `pageInfo: null`.',
  auth: 'management',
  permission: 'DeploymentRead',
  query: {
    creationStep: Type.Optional(
      Type.Array(CreationStep, {
        description: 'Only deployments in these steps; may be repeated',
        maxItems: 8,
      }),
    ),
    offset: Maybe(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        deprecated: true,
        description: 'The number of items to skip, in the older way',
      }),
    ),
    limit: Maybe(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        deprecated: true,
        description: 'Page size of the older way; a larger value than 1000 counts as 1000',
      }),
    ),
    ...cursorQuery,
  },
  reply: DeploymentsListResponse,
  errors: ['mixed_pagination'],
  scopedKeys: 'handler',
  audit: 'none',
});

export const getDeployment = operation({
  id: 'getDeployment',
  tag: 'Deployments',
  method: 'GET',
  path: '/api/v1/deployments/{deploymentId}',
  summary: 'Get a deployment',
  auth: 'management',
  permission: 'DeploymentRead',
  params: { deploymentId: Id },
  reply: Deployment,
  audit: 'none',
});

export const createDeployment = operation({
  id: 'createDeployment',
  tag: 'Deployment Creation',
  method: 'POST',
  path: '/build/api/v1/deployments',
  trailingSlash: true,
  summary: 'Create a deployment',
  auth: 'management',
  permission: 'DeploymentCreate',
  body: CreateDeploymentInput,
  reply: Deployment,
  errors: ['region_not_found'],
  scopedKeys: 'refused',
  audit: 'deployment',
});

export const deleteDeployment = operation({
  id: 'deleteDeployment',
  tag: 'Deployments',
  method: 'DELETE',
  path: '/api/v1/deployments/{deploymentId}',
  summary: 'Delete a deployment and everything in it',
  auth: 'management',
  permission: 'DeploymentDelete',
  params: { deploymentId: Id },
  reply: Shape('DeploymentDeleteResponse', { success: Type.Boolean() }),
  audit: 'deployment',
});
