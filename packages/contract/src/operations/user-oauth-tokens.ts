import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { Redirect } from '../kinds.ts';
import { Nothing, operation } from '../operation.ts';
import { DateTime, Id, Maybe, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'User OAuth Tokens': 'What people have allowed this server to do for them at other services.',
} satisfies TagDefinitions;

export const errors = {
  oauth_connection_required: {
    status: 403,
    message: 'This data is read with your own access to a service. Connect on your account page.',
  },
  oauth_person_required: {
    status: 403,
    message:
      'This data is read only by people of the account, each with their own access. The variable `DB_OAUTH_OTHERS` of the deployment can open it to others.',
  },
  oauth_token_not_found: { status: 404, message: 'You are not connected to this service.' },
  oauth_flow_not_begun: {
    status: 400,
    message:
      'This connection was begun by somebody else, in another browser or too long ago, or it has ended already. Begin again on your account page.',
  },
  oauth_provider_refused: {
    status: 400,
    message: 'The service did not give access. Begin again on your account page.',
  },
  oauth_provider_unavailable: {
    status: 502,
    message:
      'The service cannot be used at present. Try again in a moment. If it happens again, an admin must look at the integration: the log of the server says what is wrong.',
  },
} as const satisfies ErrorDefinitions;

const UserOAuthToken = Shape('UserOAuthToken', {
  id: { ...Id, description: 'The number of the connection' },
  integrationId: { ...Id, description: 'The number of the integration' },
  userId: { ...Id, description: 'Whose connection it is: the caller' },
  status: Type.Enum(['active', 'expired', 'revoked', 'error'], {
    description:
      '`active`: it can be used. `expired`: the service does not renew it any more. `revoked`: the integration was changed. `error`: the service refuses the integration itself, which an admin can mend. After `expired` and `revoked`, connect again',
  }),
  lastError: Maybe(Type.String({ description: 'Why it cannot be used, for people; null if it can' })),
  accessTokenExpiresAt: Maybe({
    ...DateTime,
    description: 'Null if the service did not say. It is renewed before',
  }),
  refreshTokenExpiresAt: Maybe({ ...DateTime, description: 'Null if the service did not say' }),
  createdAt: { ...DateTime, description: 'When the person connected' },
  updatedAt: { ...DateTime, description: 'When the tokens were renewed last' },
});

const common = {
  tag: 'User OAuth Tokens',
  auth: 'management',
  permission: 'OAuthIntegrationsIssueTokens',
} as const;
const path = '/api/v1/user-oauth-tokens';
const params = { integrationId: { ...Id, description: 'The number of the integration' } };

export const listUserOAuthTokens = operation({
  ...common,
  id: 'listUserOAuthTokens',
  method: 'GET',
  path,
  trailingSlash: true,
  summary: 'List your connections',
  description: 'One for each integration at most, without the tokens themselves, which no operation returns.',
  scopedKeys: 'allowed',
  reply: Type.Array(UserOAuthToken),
  audit: 'none',
});

export const getUserOAuthToken = operation({
  ...common,
  id: 'getUserOAuthToken',
  method: 'GET',
  path: `${path}/{integrationId}`,
  summary: 'Get your connection to a service',
  description: 'Without the tokens themselves, which no operation returns.',
  scopedKeys: 'allowed',
  params,
  reply: UserOAuthToken,
  errors: ['oauth_token_not_found'],
  audit: 'none',
});

export const revokeUserOAuthToken = operation({
  ...common,
  id: 'revokeUserOAuthToken',
  method: 'DELETE',
  path: `${path}/{integrationId}`,
  summary: 'End your connection to a service',
  description:
    'The tokens stop being used at once. If the integration has a `revocationUrl`, a job also revokes them at the service.',
  scopedKeys: 'refused',
  params,
  reply: Nothing,
  errors: ['oauth_token_not_found'],
  audit: 'oauthToken',
});

export const initiateOAuthFlow = operation({
  ...common,
  id: 'initiateOAuthFlow',
  method: 'POST',
  path: `${path}/{integrationId}/initiate`,
  summary: 'Begin to connect to a service',
  description:
    'Open the address in a browser in which the same person is signed in here, within ten minutes. It works once. A connection that was begun by a browser works only in that session of the browser.',
  scopedKeys: 'refused',
  rate: { max: 60, perSeconds: 60 },
  params,
  reply: Shape('InitiatedOAuthFlow', {
    authorizationUrl: Type.String({
      description: 'The page of the service at which the person allows the access',
    }),
  }),
  secretReply: true,
  errors: ['oauth_integration_not_found'],
  audit: 'none',
});

const page = {
  tag: 'Pages',
  errorShape: 'page',
  auth: 'console',
  permission: 'OAuthIntegrationsIssueTokens',
} as const;
const text = (maxLength: number, description?: string) =>
  Type.Optional(Type.String({ maxLength, description }));

const callback = {
  ...page,
  method: 'GET',
  rate: { max: 60, perSeconds: 60 },
  timeoutMs: 15_000,
  query: {
    code: text(4096),
    state: text(255),
    iss: text(2048),
    error: text(255),
    error_description: text(2048),
  },
  reply: Redirect(303),
  errors: [
    'oauth_flow_not_begun',
    'oauth_provider_refused',
    'oauth_provider_unavailable',
    'oauth_integration_not_found',
  ],
  audit: 'none',
} as const;

export const finishOAuthFlow = operation({
  ...callback,
  id: 'finishOAuthFlow',
  path: '/oauth/callback',
  summary: 'Come back from a service',
  description:
    'The redirect address to register at the service. The person who began must be signed in here. Exchanges the code for tokens, and goes to the account page.',
});

export const finishNamedOAuthFlow = operation({
  ...callback,
  id: 'finishNamedOAuthFlow',
  path: '/oauth/callback/{redirectName}',
  summary: 'Come back from a service, to the address of its integration',
  description:
    'Like `/oauth/callback`, for integrations whose `redirectUri` ends with a name. What was begun with another integration is refused here.',
  params: {
    redirectName: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The end of the `redirectUri` of the integration',
      examples: ['warehouse'],
    }),
  },
});
