import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { limits } from '../limits.ts';
import { Nothing, operation } from '../operation.ts';
import { DateTime, FreeObject, Id, Maybe, matching, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'OIDC Token Configs':
    'Tokens with which deployments identify themselves to clouds and other services, instead of stored passwords.',
} satisfies TagDefinitions;

export const errors = {
  oidc_token_config_not_found: { status: 404, message: 'There is no such token config.' },
  oidc_token_config_exists: {
    status: 409,
    message: 'There is a token config for this cloud already: there can be one each for AWS, AZURE and GCP.',
  },
  oidc_token_config_name_taken: { status: 409, message: 'Another token config has this name.' },
  target_env_var_taken: {
    status: 409,
    message: 'Another token config gives its token in this variable.',
  },
  oidc_token_config_limit_reached: {
    status: 409,
    message: `There can be at most ${limits.oidcTokenConfigs} token configs.`,
  },
} as const satisfies ErrorDefinitions;

const AudienceType = Type.String({
  description: '`AWS`, `AZURE`, `GCP` or `CUSTOM`, in any letter case',
  ...matching(
    '^(?:[Aa][Ww][Ss]|[Aa][Zz][Uu][Rr][Ee]|[Gg][Cc][Pp]|[Cc][Uu][Ss][Tt][Oo][Mm])$',
    'must be AWS, AZURE, GCP or CUSTOM',
  ),
  examples: ['AWS'],
});

const ConfigName = Type.String({
  maxLength: 63,
  ...matching(
    '^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$',
    'must have a-z, 0-9 and - only, and must not begin or end with -',
  ),
  description: 'Unique. The file with the token is called so. By default the type in small letters',
  examples: ['warehouse'],
});

const CustomAudience = Type.String({
  minLength: 1,
  maxLength: 500,
  ...matching('^[\\u0021-\\u007e]+$', 'must have printable ASCII characters only, and no spaces'),
  description:
    'Who the token is for, the claim `aud`. Required for `CUSTOM`, and for `GCP`, whose audience is the resource name of the provider. AWS and AZURE have a default',
  examples: ['https://warehouse.example.com'],
});

const SubFormat = Type.String({
  minLength: 1,
  maxLength: 200,
  ...matching(
    '^(?:[A-Za-z0-9:_-]|\\{(?:deployment_id|component|region)\\})+$',
    'must have letters, digits, :, _ and - only, and the placeholders {deployment_id}, {component} and {region}',
  ),
  description:
    'The claim `sub`, with the placeholders `{deployment_id}`, `{component}` and `{region}`. By default `oriel:deployment:{deployment_id}`',
  examples: ['oriel:deployment:{deployment_id}'],
});

const TargetEnvVar = Type.String({
  maxLength: 128,
  ...matching('^[A-Z_][A-Z0-9_]*$', 'must have A-Z, 0-9 and _ only, and must not begin with a digit'),
  description:
    'The environment variable of engines that holds the path of the token file. For `CUSTOM` only; the others use the variables that their SDKs expect',
  examples: ['WAREHOUSE_TOKEN_FILE'],
});

const CustomClaims = {
  ...FreeObject,
  description:
    'More claims, up to 4 KB. They cannot be called `iss`, `sub`, `aud`, `exp`, `iat`, `nbf` or `jti`',
};

const Warnings = Type.Array(Type.String(), {
  description:
    'Why others cannot verify the tokens, such as an address of this server that they cannot reach',
});

const OidcTokenConfig = Shape('OidcTokenConfig', {
  id: { ...Id, description: 'The number of the token config' },
  name: Type.String({ description: 'The file with the token is called so' }),
  audienceType: Type.String({ description: 'As it was sent: `AWS`, `AZURE`, `GCP` or `CUSTOM`' }),
  audience: Type.String({ description: 'The claim `aud`' }),
  subFormat: Maybe(SubFormat),
  customClaims: Maybe(CustomClaims),
  targetEnvVar: Maybe(TargetEnvVar),
  isEnabled: Type.Boolean({ description: 'Whether engines get tokens of it' }),
  warnings: Warnings,
  createdAt: DateTime,
  updatedAt: DateTime,
});

const changeable = {
  name: Maybe(ConfigName),
  customAudience: Maybe(CustomAudience),
  subFormat: Maybe(SubFormat),
  customClaims: Maybe(CustomClaims),
  targetEnvVar: Maybe(TargetEnvVar),
  isEnabled: Maybe(Type.Boolean({ description: 'Whether engines get tokens of it; true by default' })),
};

const path = '/api/v1/oidc-token-configs';
const common = { tag: 'OIDC Token Configs', auth: 'management', permission: 'All' } as const;
const one = { id: Id };

export const listOidcTokenConfigs = operation({
  ...common,
  id: 'listOidcTokenConfigs',
  method: 'GET',
  path,
  trailingSlash: true,
  summary: 'List the token configs of the account',
  description: 'Oldest first, all of them.',
  reply: Type.Array(OidcTokenConfig),
  scopedKeys: 'allowed',
  audit: 'none',
});

export const createOidcTokenConfig = operation({
  ...common,
  id: 'createOidcTokenConfig',
  method: 'POST',
  path,
  trailingSlash: true,
  summary: 'Give deployments a token for a cloud or another service',
  description:
    'The engines of every deployment get a token that this server signs. It is valid for one hour and renewed after half of that. See docs/workload-identity.md.',
  body: Shape(
    'CreateOidcTokenConfigInput',
    { audienceType: AudienceType, ...changeable },
    {
      examples: [
        {
          audienceType: 'CUSTOM',
          name: 'example',
          customAudience: 'https://warehouse.example.com',
          targetEnvVar: 'EXAMPLE_TOKEN_FILE',
        },
      ],
    },
  ),
  reply: OidcTokenConfig,
  errors: [
    'oidc_token_config_exists',
    'oidc_token_config_name_taken',
    'target_env_var_taken',
    'oidc_token_config_limit_reached',
  ],
  scopedKeys: 'refused',
  audit: 'oidcTokenConfig',
});

export const getOidcTokenConfig = operation({
  ...common,
  id: 'getOidcTokenConfig',
  method: 'GET',
  path: `${path}/{id}`,
  summary: 'Get a token config',
  description: 'Tokens are not part of it: only engines get them.',
  params: one,
  reply: OidcTokenConfig,
  errors: ['oidc_token_config_not_found'],
  scopedKeys: 'allowed',
  audit: 'none',
});

export const updateOidcTokenConfig = operation({
  ...common,
  id: 'updateOidcTokenConfig',
  method: 'PUT',
  path: `${path}/{id}`,
  summary: 'Change a token config, or switch it off',
  description:
    'Absent fields stay as they are. `null` brings back the default; a name stays. Engines that start from then on get other tokens, and those that run end after their queries.',
  params: one,
  body: Shape('UpdateOidcTokenConfigInput', changeable, {
    examples: [{ subFormat: 'oriel:{region}:{deployment_id}' }],
  }),
  reply: OidcTokenConfig,
  errors: ['oidc_token_config_not_found', 'oidc_token_config_name_taken', 'target_env_var_taken'],
  scopedKeys: 'refused',
  audit: 'oidcTokenConfig',
});

export const deleteOidcTokenConfig = operation({
  ...common,
  id: 'deleteOidcTokenConfig',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Delete a token config',
  description:
    'Engines get no more tokens of it. Tokens that were given stay valid until they expire, within an hour.',
  params: one,
  reply: Nothing,
  errors: ['oidc_token_config_not_found'],
  scopedKeys: 'refused',
  audit: 'oidcTokenConfig',
});

export const previewOidcToken = operation({
  ...common,
  id: 'previewOidcToken',
  method: 'POST',
  path: `${path}/{id}/preview`,
  summary: 'See what a token says, before anybody trusts it',
  description:
    'The header and the claims that a token for the deployment would have now. There is no signature, so this is no token.',
  params: one,
  body: Shape('PreviewOidcTokenInput', { deploymentId: Id }, { examples: [{ deploymentId: 1 }] }),
  reply: Shape('OidcTokenPreview', {
    header: Shape('OidcTokenHeader', {
      alg: Type.String({ description: '`RS256`' }),
      kid: Type.String({ description: 'The key, as `jwks_uri` of the discovery document lists it' }),
      typ: Type.String({ description: '`JWT`' }),
    }),
    claims: { ...FreeObject, description: 'What the token says' },
    variables: Type.Array(Type.String(), {
      description: 'The environment variables that an engine of the deployment gets for it',
    }),
    warnings: Warnings,
  }),
  errors: ['oidc_token_config_not_found', 'deployment_not_found'],
  scopedKeys: 'refused',
  audit: 'none',
});

const published = {
  tag: 'OIDC Token Configs',
  method: 'GET',
  auth: 'public',
  permission: 'none',
  audit: 'none',
} as const;

export const getOpenIdConfiguration = operation({
  ...published,
  id: 'getOpenIdConfiguration',
  path: '/.well-known/openid-configuration',
  summary: 'Get the discovery document of this server as an issuer of tokens',
  description:
    'Clouds read it to verify the tokens of deployments. People cannot sign in elsewhere with it: there are no tokens for people.',
  reply: Shape('OpenIdConfiguration', {
    issuer: Type.String({ description: 'The claim `iss`: the address of this server' }),
    jwks_uri: Type.String({ description: 'Where the public keys are' }),
    response_types_supported: Type.Array(Type.String(), { description: 'Always `id_token`' }),
    subject_types_supported: Type.Array(Type.String(), { description: 'Always `public`' }),
    id_token_signing_alg_values_supported: Type.Array(Type.String(), { description: 'Always `RS256`' }),
    scopes_supported: Type.Array(Type.String(), { description: 'Always `openid`' }),
    claims_supported: Type.Array(Type.String(), { description: 'The claims that every token has' }),
  }),
});

export const getWorkloadJwks = operation({
  ...published,
  id: 'getWorkloadJwks',
  path: '/.well-known/workload-jwks.json',
  summary: 'Get the public keys that tokens of deployments are signed with',
  description:
    'These keys verify no embed tokens, whose keys are at `/.well-known/jwks.json`. A new key is here a day before it signs.',
  reply: Shape('WorkloadKeySet', {
    keys: Type.Array(
      Shape('WorkloadKey', {
        kty: Type.String({ description: 'Always `RSA`' }),
        n: Type.String({ description: 'The modulus' }),
        e: Type.String({ description: 'The exponent' }),
        kid: Type.String({ description: 'The id of the key, as headers of tokens name it' }),
        alg: Type.String({ description: 'Always `RS256`' }),
        use: Type.String({ description: 'Always `sig`' }),
      }),
    ),
  }),
});
