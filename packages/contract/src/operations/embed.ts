/** Operations that mint and exchange embed sessions, and that show what the server knows about a viewer. */
import { Type } from 'typebox';
import { DefaultValue, ShownValue } from '../attributes.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { GroupName } from '../groups.ts';
import { EventStream } from '../kinds.ts';
import { operation } from '../operation.ts';
import { LIST_MAX, names, reference, SecurityContext, UserAttributeInputs } from '../provisioning.ts';
import {
  DateTime,
  Email,
  EmbedTenantName,
  Id,
  Maybe,
  Name,
  Nullable,
  RecordOf,
  Shape,
  Url,
} from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Embed: 'Mint, exchange, list and revoke sessions for viewers outside of the account.',
} satisfies TagDefinitions;

export const errors = {
  identity_required: { status: 400, message: 'Give exactly one of `externalId` and `internalId`.' },
  invalid_external_id: { status: 400, message: '`externalId` must be lowercase and trimmed.' },
  not_allowed_with_internal_id: {
    status: 400,
    message: 'An internal user keeps their own groups, attributes and profile.',
  },
  creator_mode_required: { status: 400, message: 'This needs `creatorMode: true`.' },
  embed_tenant_required: { status: 400, message: 'Definitions need an `embedTenantName`.' },
  security_context_too_large: { status: 400, message: '`securityContext` is larger than 64 KB.' },
  duplicate_attribute_name: { status: 400, message: 'An attribute is given twice.' },
  duplicate_definition_name: { status: 400, message: 'A name is defined twice.' },
  attribute_type_conflict: { status: 400, message: 'cannot change type' },
  groups_not_found: { status: 400, message: 'Groups with these names not found' },
  user_attributes_not_found: { status: 400, message: 'User attributes not found' },
  invalid_session: { status: 401, message: 'The session is unknown, used, expired or revoked.' },
  plan_required: { status: 403, message: 'Embedding needs the premium or enterprise plan.' },
  creator_mode_disabled: {
    status: 403,
    message: 'Creator mode is off: turn on the tenant setting `useCreatorMode`.',
  },
  external_user_limit_reached: {
    status: 403,
    message: 'The account has reached its limit of external users.',
  },
} as const satisfies ErrorDefinitions;

/** Enough for a security context of 64 KB, and for a thousand each of values, groups and definitions. */
const BODY_MAX_BYTES = 4 * 1024 * 1024;
const text = Maybe(Type.String({ maxLength: 1000 }));

const GroupDefinition = Shape('GroupDefinition', {
  name: {
    ...GroupName,
    description: 'An existing group with this name is reused. Names that begin with `system:` are reserved',
  },
  description: Maybe(
    Type.String({
      maxLength: 1000,
      description: 'Replaces the stored description if it is different; never clears it',
    }),
  ),
});

const AttributeDefinition = Shape('UserAttributeDefinition', {
  name: { ...Name, description: 'An existing attribute with this name is reused' },
  type: Type.Enum(['string', 'number', 'string_array', 'number_array'], {
    description: 'Cannot change later',
  }),
  displayName: text,
  defaultValue: Maybe(DefaultValue),
  description: text,
});

const definitions = <T extends typeof GroupDefinition | typeof AttributeDefinition>(
  definition: T,
  description: string,
) => Maybe(Type.Array(definition, { maxItems: LIST_MAX, description }));

const color = Maybe(Type.String({ maxLength: 100, examples: ['#3366ff'] }));
const EmbedTheme = Shape('EmbedTheme', {
  primaryColor: color,
  font: Maybe(Type.String({ maxLength: 255, examples: ['Inter'] })),
  borderRadius: Maybe(Type.Number({ minimum: 0, maximum: 1000, description: 'In pixels' })),
  chat: Maybe(Shape('EmbedThemeChat', { inputColor: color })),
  analyticsChat: Maybe(
    Shape('EmbedThemeAnalyticsChat', {
      backgroundColor: color,
      chatInput: Maybe(Shape('EmbedThemeAnalyticsChatInput', { backgroundColor: color, borderColor: color })),
    }),
  ),
});

const GenerateSession = Shape(
  'GenerateSession',
  {
    deploymentId: Id,
    externalId: Maybe({
      ...reference,
      description: 'The stable id of an external user: lowercase and trimmed',
      examples: ['customer-42'],
    }),
    internalId: Maybe({ ...reference, description: 'The username of an existing, active user' }),
    email: Maybe({ ...Email, description: 'The email of the external user' }),
    userProfile: Maybe(
      Shape('EmbedUserProfile', {
        displayName: Maybe(Type.String({ maxLength: 255, examples: ['Ada Lovelace'] })),
        picture: Maybe({
          ...Url,
          description: "Loaded by the viewer's browser; the server does not fetch it",
        }),
      }),
    ),
    embedTenantName: Maybe({
      ...EmbedTenantName,
      description: 'The customer that the viewer belongs to; by default the account itself',
    }),
    creatorMode: Maybe(
      Type.Boolean({
        description: 'Use the groups and attributes of the embed tenant instead of those of the account',
      }),
    ),
    userAttributes: Maybe(UserAttributeInputs),
    groups: names(
      'Names of groups, which data policies see. Replaces the memberships; `[]` removes all of them; if it is absent, they stay. In creator mode the names are groups of the embed tenant, otherwise groups of the account',
    ),
    userAttributeDefinitions: definitions(
      AttributeDefinition,
      'Created or updated before the rest of the request, in creator mode',
    ),
    groupDefinitions: definitions(
      GroupDefinition,
      'Created or updated before the rest of the request, in creator mode',
    ),
    tenantGroups: names(
      'A second kind of membership in the groups of the embed tenant, in creator mode. It decides with whom content is shared. Data policies see it as `tenant:<name>`. It is replaced, cleared and kept like `groups`, but independently of them',
    ),
    tenantGroupDefinitions: definitions(GroupDefinition, 'Has the same effect as `groupDefinitions`'),
    embedTenantProfile: Maybe(
      Shape('EmbedTenantProfile', {
        displayName: Maybe(Type.String({ maxLength: 255, examples: ['Acme Corporation'] })),
      }),
    ),
    securityContext: Maybe(SecurityContext),
    settings: Maybe(
      Shape('EmbedSessionSettings', {
        showDashboardChat: Maybe(Type.Boolean({ description: 'The account-wide setting by default' })),
      }),
    ),
    embedTheme: Maybe(EmbedTheme),
  },
  {
    examples: [
      {
        deploymentId: 1,
        externalId: 'customer-42',
        embedTenantName: 'acme-corp',
        groups: ['analysts'],
        userAttributes: [{ name: 'region', value: 'EU' }],
      },
    ],
  },
);

const GenerateSessionResponse = Shape('GenerateSessionResponse', {
  sessionId: Type.String({
    description:
      'Put it into the address of the embedded page. It is valid for 5 minutes and can be used once',
  }),
});

const Memberships = Shape('MembershipsBeforeAndAfter', {
  before: Type.Array(Type.String()),
  after: Type.Array(Type.String()),
});

const GenerateSessionDryRun = Shape('GenerateSessionDryRun', {
  ok: Type.Boolean({ description: 'Whether the call would succeed' }),
  errors: Type.Array(
    Shape('DryRunError', { code: Type.String(), message: Type.String(), path: Type.String() }),
  ),
  embedTenant: Shape('DryRunEmbedTenant', { name: Type.String(), created: Type.Boolean() }),
  user: Shape('DryRunUser', {
    externalId: Nullable(Type.String()),
    created: Type.Boolean(),
    changed: Type.Array(Type.String(), {
      description: 'The changed fields among `email`, `displayName` and `picture`',
    }),
  }),
  groups: Memberships,
  tenantGroups: Memberships,
  definitions: Shape('DryRunDefinitions', {
    created: Type.Array(Type.String()),
    updated: Type.Array(Type.String()),
  }),
  userAttributes: Type.Array(
    Shape('EffectiveAttribute', {
      name: Type.String(),
      value: ShownValue,
      source: Type.Enum(['request', 'stored', 'default', 'none']),
    }),
  ),
});

const SESSION_ERRORS = [
  'identity_required',
  'invalid_external_id',
  'not_allowed_with_internal_id',
  'creator_mode_required',
  'embed_tenant_required',
  'security_context_too_large',
  'duplicate_attribute_name',
  'duplicate_definition_name',
  'invalid_default_value',
  'attribute_type_conflict',
  'groups_not_found',
  'user_attributes_not_found',
  'attribute_value_mismatch',
  'plan_required',
  'forbidden',
  'outside_key_scope',
  'creator_mode_disabled',
  'external_user_limit_reached',
  'deployment_not_found',
  'user_not_found',
] as const;

const minting = {
  tag: 'Embed',
  method: 'POST',
  auth: 'apiKey',
  permission: 'none',
  scopedKeys: 'handler',
  body: GenerateSession,
  bodyLimitBytes: BODY_MAX_BYTES,
  audit: 'none',
} as const;

export const generateSession = operation({
  ...minting,
  id: 'generateSession',
  path: '/api/v1/embed/generate-session',
  summary: 'Provision a viewer and mint a session',
  description:
    'One call from your backend creates or updates the external user with profile, groups and attributes, and mints a session for the embedded page. If any part fails, nothing changes. `dryRunSession` shows beforehand what the call would do.',
  reply: GenerateSessionResponse,
  errors: SESSION_ERRORS,
});

export const dryRunSession = operation({
  ...minting,
  id: 'dryRunSession',
  path: '/api/v1/embed/generate-session/dry-run',
  summary: 'Show what minting a session would do',
  description:
    'Takes the same body as `generateSession`, changes nothing, and shows what would be created and changed, with all errors at once. The status is 200 even if `ok` is false.',
  reply: GenerateSessionDryRun,
  // The internal user may be deleted while the dry run is working.
  errors: ['user_not_found'],
});

export const postTokenBySessionId = operation({
  id: 'postTokenBySessionId',
  tag: 'Embed',
  method: 'POST',
  path: '/api/v1/embed/session/token',
  summary: 'Exchange a session for an embed token',
  description: 'Each session can be exchanged once. The token is valid for 24 hours.',
  auth: 'public',
  permission: 'none',
  crossOrigin: true,
  body: Shape('PostTokenBySessionIdInput', { sessionId: Type.String({ minLength: 1, maxLength: 255 }) }),
  reply: Shape('GenerateEmbedTokenResponse', { token: Type.String() }),
  errors: ['invalid_session', 'rate_limited'],
  audit: 'none',
});

export const getEmbedSession = operation({
  id: 'getEmbedSession',
  tag: 'Embed',
  method: 'GET',
  path: '/api/v1/embed/session',
  summary: 'Get what the server knows about the viewer',
  description:
    'What pages show and what data policies see: identity, groups, attributes, settings and theme.',
  auth: 'embed',
  permission: 'none',
  crossOrigin: true,
  embed: 'viewer',
  reply: Shape('EmbedSession', {
    deploymentId: Id,
    embedTenantName: Type.String(),
    creatorMode: Type.Boolean(),
    user: Shape('EmbedSessionUser', {
      id: Id,
      externalId: Nullable(Type.String()),
      username: Type.String(),
      email: Nullable(Type.String()),
      displayName: Nullable(Type.String()),
      picture: Nullable(Type.String()),
    }),
    groups: Type.Array(Type.String(), { description: 'Names, sorted' }),
    tenantGroups: Type.Array(Type.String(), { description: 'Names, sorted' }),
    userAttributes: RecordOf(ShownValue, {
      description: 'An attribute without a value has its default, or null',
    }),
    securityContext: Nullable(SecurityContext),
    settings: Shape('EmbedSettingsInForce', { showDashboardChat: Type.Boolean() }),
    embedTheme: Nullable(EmbedTheme),
    launchpadTabs: Maybe(Type.Array(Type.String())),
    defaultLaunchpadViewGroup: Maybe(Type.String()),
    expiresAt: DateTime,
  }),
  audit: 'none',
});

export const watchEmbedSession = operation({
  id: 'watchEmbedSession',
  tag: 'Embed',
  method: 'GET',
  path: '/api/v1/embed/session/events',
  summary: 'Hear when the embed token ends',
  description:
    'Server-sent events. `ended` comes within two seconds after the session was revoked or the token has expired, and the stream ends with it. If the stream ends without it, connect again.',
  auth: 'embed',
  permission: 'none',
  crossOrigin: true,
  embed: 'viewer',
  reply: EventStream({
    ended: Type.Object(
      { reason: Type.Enum(['revoked', 'expired'], { description: 'Why the token stopped working' }) },
      { additionalProperties: false },
    ),
  }),
  audit: 'none',
});

export const getJwks = operation({
  id: 'getJwks',
  tag: 'Embed',
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'Get the public keys that embed tokens are signed with',
  description:
    'Any library for JSON Web Tokens can check embed tokens with them. Keep them for a few minutes at most, since keys change.',
  auth: 'public',
  permission: 'none',
  reply: Shape('JsonWebKeySet', {
    keys: Type.Array(
      Shape('JsonWebKey', {
        kty: Type.String(),
        crv: Type.String(),
        x: Type.String(),
        kid: Type.String(),
        alg: Type.String(),
        use: Type.String(),
      }),
    ),
  }),
  audit: 'none',
});
