import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { Nothing, operation } from '../operation.ts';
import { DateTime, Id, Maybe, matching, Name, Nullable, Shape, Url } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'OAuth Integrations':
    'Services at which people allow this server to act for them, such as a data warehouse.',
} satisfies TagDefinitions;

export const errors = {
  oauth_integration_not_found: { status: 404, message: 'There is no such OAuth integration.' },
  oauth_integration_name_taken: { status: 409, message: 'Another OAuth integration has this name.' },
  oauth_integration_limit_reached: {
    status: 409,
    message: 'The account has as many OAuth integrations as it may have (100): delete one first.',
  },
  oauth_redirect_uri_not_ours: {
    status: 400,
    message: 'The redirect address must be the one of this server.',
  },
  oauth_redirect_uri_taken: {
    status: 409,
    message:
      'An integration with another service has this redirect address: choose another name at its end, and register that one at the service.',
  },
  oauth_address_refused: { status: 400, message: 'The address cannot be used.' },
  oauth_secret_required: {
    status: 400,
    message:
      'Give `clientSecret` again: the address that it is sent to changes, and nobody may have a stored secret sent elsewhere.',
  },
} as const satisfies ErrorDefinitions;

const PRINTABLE = matching('^[\\u0020-\\u007e]+$', 'must have printable ASCII characters only');
const printable = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, ...PRINTABLE, description });

const address = (description: string, example: string) => ({ ...Url, description, examples: [example] });

const AuthUrl = address(
  'The page of the service at which people allow the access',
  'https://login.example.com/authorize',
);
const TokenUrl = address(
  'Where this server exchanges codes and refresh tokens, with the secret',
  'https://login.example.com/token',
);
const RedirectUri = address(
  'The page of this server to which the service sends people back: `<address of this server>/oauth/callback/<name>`, with a name of your choice (a-z, 0-9 and -), or without one. Register it at the service. Services at different hosts need different addresses, so that none can answer in the place of another',
  'https://bi.example.com/oauth/callback/warehouse',
);

const Scope = Type.String({
  minLength: 1,
  maxLength: 255,
  ...matching('^[\\u0021\\u0023-\\u005b\\u005d-\\u007e]+$', 'must have no spaces, quotes or backslashes'),
});
const Scopes = Type.Array(Scope, { maxItems: 100, description: 'What people are asked to allow' });

const Config = Type.Object(
  {
    revocationUrl: Type.Optional(
      address(
        'Where tokens are revoked (RFC 7009). Without it, they are only forgotten here',
        'https://login.example.com/revoke',
      ),
    ),
    issuer: Type.Optional(
      address(
        'What the service calls itself in `iss` (RFC 9207). Without it, an `iss` must have the origin of `authUrl`',
        'https://login.example.com',
      ),
    ),
    clientAuthentication: Type.Optional(
      Type.Enum(['client_secret_basic', 'client_secret_post'], {
        description: 'How the secret is sent; `client_secret_basic` by default',
      }),
    ),
    authorizationParameters: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        maxProperties: 20,
        additionalProperties: { type: 'string', maxLength: 1000 },
        description:
          'More parameters of `authUrl`, such as `access_type` and `prompt`. Those of the protocol itself are refused',
      }),
    ),
    hosts: Type.Optional(
      Type.Array(
        Type.String({
          minLength: 3,
          maxLength: 300,
          ...matching(
            '^(\\[[0-9A-Fa-f:.]+\\]|[^\\s/@:\\[\\]]+):[1-9][0-9]{0,4}$',
            'must be a host and a port, such as db.example.com:5432',
          ),
        }),
        {
          maxItems: 100,
          uniqueItems: true,
          description:
            'The data sources that may get tokens of people, as `host:port`. Without it, none: whoever sets the variables of a deployment could otherwise have the tokens sent elsewhere',
        },
      ),
    ),
  },
  {
    title: 'OAuthIntegrationConfig',
    additionalProperties: false,
    description: 'What the service needs beside its addresses, and which data sources may get tokens',
  },
);

const OAuthIntegration = Shape('OAuthIntegration', {
  id: { ...Id, description: 'The number of the integration, by which data sources name it' },
  name: Type.String({ description: 'Unique in the account. People see it on their account page' }),
  type: Type.String({ description: 'What kind of service it is, as free text' }),
  authUrl: AuthUrl,
  tokenUrl: TokenUrl,
  redirectUri: RedirectUri,
  clientId: Type.String({ description: 'How the service knows this server' }),
  scopes: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: Scope,
      description: 'What people are asked to allow',
    }),
  ),
  config: Type.Optional(Nullable(Config)),
  createdAt: { ...DateTime, description: 'When it was made' },
  updatedAt: { ...DateTime, description: 'When it was changed last' },
});

const fields = {
  name: { ...Name, description: 'Unique in the account. People see it on their account page' },
  type: { ...Name, description: 'What kind of service it is, as free text', examples: ['snowflake'] },
  authUrl: AuthUrl,
  tokenUrl: TokenUrl,
  redirectUri: RedirectUri,
  clientId: printable(512, 'How the service knows this server'),
  scopes: Type.Optional(Scopes),
  config: Type.Optional(Config),
};

const example = {
  name: 'Warehouse',
  type: 'generic',
  authUrl: 'https://login.example.com/authorize',
  tokenUrl: 'https://login.example.com/token',
  redirectUri: 'http://127.0.0.1:4000/oauth/callback/warehouse',
  clientId: 'oriel',
  scopes: ['openid', 'offline_access'],
  config: { revocationUrl: 'https://login.example.com/revoke', hosts: ['db.example.com:5432'] },
};
const SECRET = 'The secret that the service gave with the client id. It is never returned';

const common = { tag: 'OAuth Integrations', auth: 'management' } as const;
const path = '/api/v1/oauth-integrations';
const params = { id: { ...Id, description: 'The number of the integration' } };
const refusals = [
  'oauth_integration_name_taken',
  'oauth_redirect_uri_not_ours',
  'oauth_redirect_uri_taken',
  'oauth_address_refused',
] as const;

export const listOAuthIntegrations = operation({
  ...common,
  id: 'listOAuthIntegrations',
  method: 'GET',
  path,
  trailingSlash: true,
  summary: 'List the OAuth integrations',
  description: 'Oldest first, without their secrets. There are 100 at most.',
  permission: 'OAuthIntegrationsIssueTokens',
  scopedKeys: 'allowed',
  reply: Type.Array(OAuthIntegration),
  audit: 'none',
});

export const createOAuthIntegration = operation({
  ...common,
  id: 'createOAuthIntegration',
  method: 'POST',
  path,
  summary: 'Add an OAuth integration',
  description:
    'From then on, people with the action `OAuthIntegrationsIssueTokens` can connect their own access on their account page.',
  permission: 'OAuthIntegrationsManage',
  scopedKeys: 'refused',
  body: Shape(
    'CreateOAuthIntegrationInput',
    { ...fields, clientSecret: printable(4096, SECRET) },
    { examples: [{ ...example, clientSecret: 'the secret of the client' }] },
  ),
  reply: OAuthIntegration,
  errors: [...refusals, 'oauth_integration_limit_reached'],
  audit: 'oauthIntegration',
});

export const getOAuthIntegration = operation({
  ...common,
  id: 'getOAuthIntegration',
  method: 'GET',
  path: `${path}/{id}`,
  summary: 'Get an OAuth integration',
  description: 'Its secret is not part of it.',
  permission: 'OAuthIntegrationsIssueTokens',
  scopedKeys: 'allowed',
  params,
  reply: OAuthIntegration,
  errors: ['oauth_integration_not_found'],
  audit: 'none',
});

export const updateOAuthIntegration = operation({
  ...common,
  id: 'updateOAuthIntegration',
  method: 'PUT',
  path: `${path}/{id}`,
  summary: 'Change an OAuth integration',
  description:
    'Without `clientSecret`, `scopes` or `config`, these stay as they are. If `tokenUrl` or `revocationUrl` changes, the secret must be given again. If one of them, `authUrl` or `clientId` changes, the tokens of people are forgotten, because they are for another service: everybody connects again.',
  permission: 'OAuthIntegrationsManage',
  scopedKeys: 'refused',
  params,
  body: Shape(
    'UpdateOAuthIntegrationInput',
    { ...fields, clientSecret: Maybe(printable(4096, `${SECRET}. Without it, the stored one stays`)) },
    { examples: [example] },
  ),
  reply: OAuthIntegration,
  errors: ['oauth_integration_not_found', ...refusals, 'oauth_secret_required'],
  audit: 'oauthIntegration',
});

export const deleteOAuthIntegration = operation({
  ...common,
  id: 'deleteOAuthIntegration',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Delete an OAuth integration',
  description:
    'All tokens that people have by it stop being used at once, and a job revokes them at the service.',
  permission: 'OAuthIntegrationsManage',
  scopedKeys: 'refused',
  params,
  reply: Nothing,
  errors: ['oauth_integration_not_found'],
  audit: 'oauthIntegration',
});
