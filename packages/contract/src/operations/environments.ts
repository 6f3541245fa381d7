import { Type } from 'typebox';
import { DeploymentsPagination, offsetQuery } from '../deployments.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { Nothing, operation } from '../operation.ts';
import { cursorQuery, DateTime, Id, Maybe, PageInfo, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Environments: 'The branches of a data model that answer queries, and tokens for them.',
} satisfies TagDefinitions;

export const errors = {
  environment_not_found: { status: 404, message: 'There is no such environment.' },
  environment_token_not_found: { status: 404, message: 'There is no such token, or it has expired.' },
  environment_token_limit_reached: {
    status: 409,
    message: 'The deployment has 10,000 valid tokens: wait until some of them have expired.',
  },
} as const satisfies ErrorDefinitions;

const EnvironmentType = Type.Enum(['production', 'staging', 'development'], {
  title: 'DeploymentEnvironmentType',
  description:
    '`production` is the deploy branch, `staging` a branch with a staging environment, `development` a branch on which the caller is in dev mode',
});

const ApiCredential = Shape('DeploymentEnvironmentApiCredential', {
  type: Type.Enum(['rest', 'sql']),
  version: Type.Integer({ minimum: 1 }),
  url: Maybe(Type.String()),
  host: Maybe(Type.String()),
  port: Maybe(Type.Integer({ minimum: 1 })),
  database: Maybe(Type.String()),
});

const Environment = Shape('DeploymentEnvironment', {
  id: Type.String({ description: 'The id of the branch', examples: ['1'] }),
  type: EnvironmentType,
  branch: Maybe(Type.String()),
  user: Maybe(Type.String({ description: 'The username of the person whose dev mode it is' })),
  api_credentials: Type.Array(ApiCredential),
});

const SecurityContext = Type.Object(
  {},
  { additionalProperties: true, description: 'What policies see as `securityContext`; up to 16 KB of JSON' },
);

const token = {
  created_at: DateTime,
  expires_at: DateTime,
  security_context: SecurityContext,
};
const CreatedToken = Shape('DeploymentEnvironmentToken', {
  id: Id,
  ...token,
  token: Type.String({ description: 'Shown only now. Only its hash is stored' }),
});
const ListedToken = Shape('ListedDeploymentEnvironmentToken', {
  id: Id,
  ...token,
  token: Type.String({ description: 'Only the last four characters', examples: ['oriel_env_…x7Qa'] }),
});
const TokenResponse = Shape('DeploymentEnvironmentTokenResponse', { data: CreatedToken });

const TokenInput = Shape(
  'CreateDeploymentEnvironmentTokenInput',
  {
    security_context: SecurityContext,
    expires_in: Maybe(
      Type.Integer({ minimum: 1, maximum: 3600, description: 'In seconds; 3600 by default' }),
    ),
    scopes: Maybe(
      Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
        maxItems: 20,
        description:
          'What the token allows: `meta` to read what can be queried, `data` to query it. By default both. Other words allow nothing',
      }),
    ),
  },
  { examples: [{ security_context: { customer: { id: 42 } }, expires_in: 600 }] },
);

const path = '/api/v1/deployments/{deploymentId}/environments';
const params = {
  deploymentId: Id,
  environmentId: Type.String({ minLength: 1, maxLength: 50, description: 'Digits', examples: ['1'] }),
};
const common = { tag: 'Environments', auth: 'management' } as const;
const creation = {
  ...common,
  method: 'POST',
  params,
  body: TokenInput,
  reply: TokenResponse,
  errors: ['environment_not_found', 'environment_token_limit_reached', 'security_context_too_large'],
  audit: 'environmentToken',
} as const;

export const getDeploymentEnvironments = operation({
  ...common,
  id: 'getDeploymentEnvironments',
  method: 'GET',
  path,
  summary: 'List the environments of a deployment',
  description:
    'In the order of their ids. `development` environments are only those of the caller. Page with `first` and `after`; `offset` and `limit` are the older way and return `pageInfo: null`.',
  permission: 'DeploymentRead',
  params: { deploymentId: Id },
  query: { type: Maybe(EnvironmentType), ...offsetQuery, ...cursorQuery },
  reply: Shape('DeploymentEnvironmentsListResponse', {
    items: Type.Array(Environment),
    data: Type.Array(Environment, { deprecated: true, description: 'The same as `items`' }),
    pageInfo: Maybe(PageInfo),
    pagination: DeploymentsPagination,
  }),
  errors: ['mixed_pagination'],
  audit: 'none',
});

export const getDeploymentEnvironmentTokens = operation({
  ...common,
  id: 'getDeploymentEnvironmentTokens',
  method: 'GET',
  path: `${path}/{environmentId}/tokens`,
  summary: 'List the tokens of an environment that have not expired',
  description:
    'Oldest first. A token itself is shown once, when it is created; the list shows its last characters.',
  permission: 'SchemaUpdate',
  params,
  query: { ...offsetQuery, ...cursorQuery },
  reply: Shape('DeploymentEnvironmentTokensListResponse', {
    items: Type.Array(ListedToken),
    data: Type.Array(ListedToken, { deprecated: true, description: 'The same as `items`' }),
    pageInfo: Maybe(PageInfo),
    pagination: DeploymentsPagination,
  }),
  errors: ['mixed_pagination', 'environment_not_found'],
  audit: 'none',
});

export const createDeploymentEnvironmentToken = operation({
  ...creation,
  id: 'createDeploymentEnvironmentToken',
  path: `${path}/{environmentId}/tokens`,
  summary: 'Create a token that queries an environment with a security context',
  description:
    'The token works only for queries. It ends early if the environment goes, or if its creator could not create it any more.',
  permission: 'SchemaUpdate',
});

export const createDeploymentEnvironmentTokenForMetaSync = operation({
  ...creation,
  id: 'createDeploymentEnvironmentTokenForMetaSync',
  path: `${path}/{environmentId}/tokens-for-meta-sync`,
  summary: 'Create a token that reads what can be queried in an environment, but no data',
  description: 'Its only scope is `meta`, whatever `scopes` holds.',
  permission: 'SchemaRead',
});

export const deleteDeploymentEnvironmentToken = operation({
  ...common,
  id: 'deleteDeploymentEnvironmentToken',
  method: 'DELETE',
  path: `${path}/{environmentId}/tokens/{tokenId}`,
  summary: 'End a token of an environment',
  description: 'It stops working on every server within a second.',
  permission: 'SchemaUpdate',
  params: { ...params, tokenId: { ...Id, description: 'The `id` of the token in the list' } },
  reply: Nothing,
  errors: ['environment_not_found', 'environment_token_not_found'],
  audit: 'environmentToken',
});

export const deploymentToken = operation({
  ...common,
  id: 'deploymentToken',
  tag: 'Deployments',
  method: 'POST',
  path: '/api/v1/deployments/{deploymentId}/token',
  summary: 'Create a token that queries the production environment as the caller',
  description: 'It is valid for an hour. Policies see the groups, roles and attributes of the caller.',
  permission: 'PlaygroundRead',
  params: { deploymentId: Id },
  reply: Shape('DeploymentTokenResponse', { apiToken: Type.String() }),
  errors: ['environment_not_found', 'environment_token_limit_reached'],
  audit: 'environmentToken',
});
