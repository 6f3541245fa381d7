import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { limits } from '../limits.ts';
import { Nothing, operation } from '../operation.ts';
import { cursorQuery, Id, matching, PageInfo, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Env Variables': 'Variables of a deployment, such as the addresses and passwords of its data sources.',
} satisfies TagDefinitions;

export const errors = {
  env_variable_not_found: { status: 404, message: 'There is no variable of this name.' },
  duplicate_env_variable: { status: 400, message: 'A variable is given twice.' },
  masked_env_variable: {
    status: 400,
    message: 'The mask `[ENCRYPTED]` keeps a stored value, and there is none.',
  },
  env_variable_limit_reached: {
    status: 409,
    message: `A deployment can have at most ${limits.envVariables} variables.`,
  },
} as const satisfies ErrorDefinitions;

const EnvVariableItem = Shape('EnvVariableItem', {
  name: Type.String(),
  value: Type.String({
    description:
      '`[ENCRYPTED]` for callers without the action `SecretsManage`; `[LOST]` if it was lost with the secret key of the server, and must be set again',
  }),
});

const EnvVariableInput = Shape(
  'EnvVariableInput',
  {
    name: Type.String({
      maxLength: 255,
      ...matching(
        '^[A-Za-z_][A-Za-z0-9_]*$',
        'must have only letters, digits and _, and must not begin with a digit',
      ),
      examples: ['SAMPLE_DB_HOST'],
    }),
    value: Type.String({
      description: 'Up to 32 KB. `[ENCRYPTED]` leaves the stored value as it is',
      maxLength: limits.envValue,
    }),
  },
  { examples: [{ name: 'SAMPLE_DB_HOST', value: 'db.example.com' }] },
);

const EnvVariablesListResponse = Shape('EnvVariablesListResponse', {
  items: Type.Array(EnvVariableItem),
  data: Type.Array(EnvVariableItem, { deprecated: true, description: 'The same as `items`' }),
  pageInfo: PageInfo,
});

const path = '/api/v1/deployments/{deploymentId}/env-vars';
const common = { tag: 'Env Variables', auth: 'management' } as const;

export const getEnvVariables = operation({
  ...common,
  id: 'getEnvVariables',
  method: 'GET',
  path,
  summary: 'List the variables of a deployment',
  description:
    'By name. Values are shown to callers with the action `SecretsManage`, and are masked for others.',
  permission: 'DeploymentRead',
  params: { deploymentId: Id },
  query: cursorQuery,
  reply: EnvVariablesListResponse,
  secretReply: true,
  audit: 'none',
});

export const setEnvVariables = operation({
  ...common,
  id: 'setEnvVariables',
  method: 'PUT',
  path,
  summary: 'Set variables of a deployment',
  description: 'Variables that are not given stay as they are. The reply is the first page of the list.',
  permission: 'DeploymentUpdate',
  params: { deploymentId: Id },
  body: Shape('SetEnvVariablesInput', {
    env_variables: Type.Array(EnvVariableInput, { maxItems: limits.envVariables }),
  }),
  bodyLimitBytes: 1024 * 1024,
  reply: EnvVariablesListResponse,
  errors: ['duplicate_env_variable', 'masked_env_variable', 'env_variable_limit_reached'],
  audit: 'envVariable',
});

export const deleteEnvVariable = operation({
  ...common,
  id: 'deleteEnvVariable',
  method: 'DELETE',
  path: `${path}/{name}`,
  summary: 'Delete a variable of a deployment',
  description:
    'Data sources that need the variable cannot be reached any more. Its value cannot be read again.',
  permission: 'DeploymentUpdate',
  params: {
    deploymentId: Id,
    name: Type.String({ minLength: 1, maxLength: 255, examples: ['SAMPLE_DB_HOST'] }),
  },
  reply: Nothing,
  errors: ['env_variable_not_found'],
  audit: 'envVariable',
});
