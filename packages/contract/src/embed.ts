/** Minting embed sessions, exchanging them, and what a viewer is in the eyes of the server. */
import { type Static, Type } from 'typebox';
import { DefaultValue, GivenValue, ShownValue } from './attributes.ts';
import { operation } from './operation.ts';
import { DateTime, Email, EmbedTenantName, Id, Maybe, Name, Nullable, Shape, Url } from './schemas.ts';

const LIST_MAX = 1000;
const reference = Type.String({ minLength: 1, maxLength: 255 });
const text = Maybe(Type.String({ maxLength: 1000 }));

const GroupDefinition = Shape('GroupDefinition', {
  name: { ...Name, description: 'An existing group with this name is reused' },
  description: Maybe(
    Type.String({ maxLength: 1000, description: 'Updated where it differs; never cleared' }),
  ),
});

const AttributeDefinition = Shape('UserAttributeDefinition', {
  name: { ...Name, description: 'An existing attribute with this name is reused' },
  type: Type.Enum(['string', 'number', 'string_array', 'number_array'], {
    description: 'Can not be changed later',
  }),
  displayName: text,
  defaultValue: Maybe(DefaultValue),
  description: text,
});

const definitions = <T extends typeof GroupDefinition | typeof AttributeDefinition>(
  definition: T,
  description: string,
) => Maybe(Type.Array(definition, { maxItems: LIST_MAX, description }));

const names = (description: string) => Maybe(Type.Array(reference, { maxItems: LIST_MAX, description }));

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

const SecurityContext = Type.Object(
  {},
  { additionalProperties: true, description: 'Passed to queries; up to 64 KB of JSON' },
);

const GenerateSession = Shape('GenerateSession', {
  deploymentId: Id,
  externalId: Maybe({
    ...reference,
    description: 'The stable id of an external user: lowercase and trimmed',
    examples: ['customer-42'],
  }),
  internalId: Maybe({ ...reference, description: 'The username of an existing, active user' }),
  email: Maybe({ ...Email, description: 'Of the external user' }),
  userProfile: Maybe(
    Shape('EmbedUserProfile', {
      displayName: Maybe(Type.String({ maxLength: 255, examples: ['Ada Lovelace'] })),
      picture: Maybe({ ...Url, description: 'Loaded by the browser of who looks; not fetched here' }),
    }),
  ),
  embedTenantName: Maybe({
    ...EmbedTenantName,
    description: 'The customer that the viewer belongs to; the account itself where nothing is given',
  }),
  creatorMode: Maybe(
    Type.Boolean({ description: 'Takes groups and attributes from the catalogues of the embed tenant' }),
  ),
  userAttributes: Maybe(
    Type.Array(Shape('UserAttributeInput', { name: reference, value: Type.Optional(GivenValue) }), {
      maxItems: LIST_MAX,
      description: 'Values for row-level security; others that are stored stay',
    }),
  ),
  groups: names('Names of groups. Replaces the memberships; `[]` clears them; left out they stay'),
  userAttributeDefinitions: definitions(AttributeDefinition, 'Created or updated first, in creator mode'),
  groupDefinitions: definitions(GroupDefinition, 'Created or updated first, in creator mode'),
  tenantGroups: names('As `groups`, in a second catalogue of the embed tenant, in creator mode'),
  tenantGroupDefinitions: definitions(GroupDefinition, 'As `groupDefinitions`, for `tenantGroups`'),
  embedTenantProfile: Maybe(
    Shape('EmbedTenantProfile', {
      displayName: Maybe(Type.String({ maxLength: 255, examples: ['Acme Corporation'] })),
    }),
  ),
  securityContext: Maybe(SecurityContext),
  settings: Maybe(
    Shape('EmbedSessionSettings', {
      showDashboardChat: Maybe(Type.Boolean({ description: 'Left out, the account-wide setting holds' })),
    }),
  ),
  embedTheme: Maybe(EmbedTheme),
});

const GenerateSessionResponse = Shape('GenerateSessionResponse', {
  sessionId: Type.String({
    description: 'For the address of the embedded page; good for 5 minutes, and once',
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
    changed: Type.Array(Type.String(), { description: 'Of `email`, `displayName`, `picture`' }),
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

export const generateSession = operation({
  id: 'generateSession',
  tag: 'Embed',
  method: 'POST',
  path: '/api/v1/embed/generate-session',
  summary: 'Provision a viewer and mint a session',
  description:
    'One call from your backend: makes or updates the external user with profile, groups and attributes, and mints a session for the embedded page. All or nothing. With `dryRun=true` it changes nothing and tells what would happen, with every error at once.',
  auth: 'apiKey',
  permission: 'none',
  scopedKeys: 'handler',
  query: { dryRun: Type.Optional(Type.Boolean({ description: 'Tell what would happen' })) },
  body: GenerateSession,
  // Callers who do not ask for a dry run get a session id, and their types should say so.
  reply: Type.Unsafe<Static<typeof GenerateSessionResponse> & Partial<Static<typeof GenerateSessionDryRun>>>(
    Type.Union([GenerateSessionResponse, GenerateSessionDryRun]),
  ),
  errors: [
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
    'creator_mode_disabled',
    'external_user_limit_reached',
    'deployment_not_found',
    'user_not_found',
  ],
  audit: 'none',
});

export const postTokenBySessionId = operation({
  id: 'postTokenBySessionId',
  tag: 'Embed',
  method: 'POST',
  path: '/api/v1/embed/session/token',
  summary: 'Exchange a session for an embed token',
  description: 'Each session can be exchanged once. The token is good for 24 hours.',
  auth: 'public',
  permission: 'none',
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
  summary: 'Get what the server believes of the viewer',
  auth: 'embed',
  permission: 'none',
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
    userAttributes: Type.Record(Type.String(), ShownValue, {
      description: 'Those without a value show their default, or null',
    }),
    securityContext: Nullable(SecurityContext),
    settings: Shape('EmbedSettingsInForce', { showDashboardChat: Type.Boolean() }),
    embedTheme: Nullable(EmbedTheme),
    expiresAt: DateTime,
  }),
  audit: 'none',
});

export const getJwks = operation({
  id: 'getJwks',
  tag: 'Embed',
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'Get the public keys that embed tokens are signed with',
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
