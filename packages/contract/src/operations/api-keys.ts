import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { Nothing, operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Maybe, Name, Nullable, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'API Keys': 'Keys that act with the rights of a user, for all deployments or some.',
} satisfies TagDefinitions;

export const errors = {
  api_key_not_found: { status: 404, message: 'There is no such API key.' },
} as const satisfies ErrorDefinitions;

const DeploymentIds = Nullable(
  Type.Array(Id, {
    minItems: 1,
    maxItems: 1000,
    uniqueItems: true,
    description: 'The deployments that the key may access; null for all',
  }),
);

const fields = {
  id: Id,
  name: Type.String(),
  userId: Type.Integer({ description: 'The key has the rights of this user' }),
  deploymentIds: DeploymentIds,
  createdAt: DateTime,
  expiresAt: Nullable(DateTime),
  lastUsedAt: Nullable(DateTime),
};

const ApiKey = Shape('ApiKey', fields);

const CreatedApiKey = Shape('CreatedApiKey', {
  ...fields,
  key: Type.String({ description: 'The secret. It is shown only once, in this reply' }),
});

const common = { tag: 'API Keys', auth: 'management', permission: 'All' } as const;

export const listApiKeys = operation({
  ...common,
  id: 'listApiKeys',
  method: 'GET',
  path: '/api/v1/api-keys',
  summary: 'List API keys',
  description: 'Oldest first. A scoped key sees only keys whose scope lies within its own scope.',
  query: cursorQuery,
  reply: CursorPage('ApiKeysListResponse', ApiKey),
  scopedKeys: 'handler',
  audit: 'none',
});

export const createApiKey = operation({
  ...common,
  id: 'createApiKey',
  method: 'POST',
  path: '/api/v1/api-keys',
  summary: 'Create an API key',
  description:
    'A scoped key can only create keys whose scope lies within its own scope. A key that expires can only create keys that expire no later than itself.',
  scopedKeys: 'handler',
  body: Shape(
    'CreateApiKeyInput',
    {
      name: Name,
      userId: Maybe({ ...Id, description: 'The caller by default' }),
      deploymentIds: Type.Optional(DeploymentIds),
      expiresAt: Maybe({ ...DateTime, examples: ['2099-12-31T23:59:59Z'] }),
    },
    { examples: [{ name: 'Backend', deploymentIds: [1] }] },
  ),
  reply: CreatedApiKey,
  errors: ['invalid_reference', 'outside_key_scope'],
  audit: 'apiKey',
});

export const getApiKey = operation({
  ...common,
  id: 'getApiKey',
  method: 'GET',
  path: '/api/v1/api-keys/{id}',
  summary: 'Get an API key',
  description: 'The secret of the key is not part of it: it was shown once, when the key was made.',
  params: { id: Id },
  reply: ApiKey,
  errors: ['api_key_not_found'],
  scopedKeys: 'handler',
  audit: 'none',
});

export const updateApiKey = operation({
  ...common,
  id: 'updateApiKey',
  method: 'PUT',
  path: '/api/v1/api-keys/{id}',
  summary: 'Rename an API key, or change its scope or expiry',
  description:
    'A key that expires can only give keys an expiry that is no later than its own. It cannot remove or postpone its own expiry.',
  scopedKeys: 'handler',
  params: { id: Id },
  body: Shape('UpdateApiKeyInput', {
    name: Type.Optional(Name),
    deploymentIds: Type.Optional(DeploymentIds),
    expiresAt: Maybe({ ...DateTime, examples: ['2099-12-31T23:59:59Z'] }),
  }),
  reply: ApiKey,
  errors: ['api_key_not_found', 'invalid_reference', 'outside_key_scope'],
  audit: 'apiKey',
});

export const deleteApiKey = operation({
  ...common,
  id: 'deleteApiKey',
  method: 'DELETE',
  path: '/api/v1/api-keys/{id}',
  summary: 'Revoke an API key',
  description: 'The key stops working on every server within a second.',
  scopedKeys: 'handler',
  params: { id: Id },
  reply: Nothing,
  errors: ['api_key_not_found'],
  audit: 'apiKey',
});

const own = { ...common, permission: 'none', scopedKeys: 'handler' } as const;

export const listMyApiKeys = operation({
  ...own,
  id: 'listMyApiKeys',
  method: 'GET',
  path: '/api/v1/users/me/api-keys',
  summary: "List the caller's own API keys",
  description: 'Oldest first. A scoped key sees only keys whose scope lies within its own scope.',
  query: cursorQuery,
  reply: CursorPage('MyApiKeysListResponse', ApiKey),
  audit: 'none',
});

export const deleteMyApiKey = operation({
  ...own,
  id: 'deleteMyApiKey',
  method: 'DELETE',
  path: '/api/v1/users/me/api-keys/{id}',
  summary: "Revoke one of the caller's own API keys",
  description:
    'The key stops working on every server within a second. Only admins can create keys, but everybody can end their own, for example after a leak.',
  params: { id: Id },
  reply: Nothing,
  errors: ['api_key_not_found'],
  audit: 'apiKey',
});
