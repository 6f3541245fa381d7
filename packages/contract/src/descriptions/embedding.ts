/** What the fields of embed sessions, their viewers and embed tenants mean. */
import type { FieldWords } from './index.ts';

const groupDescription = { description: 'Who belongs to the group, for people' };
const viewer = {
  id: 'The number of the user',
  username: 'A name that the server made of the embed tenant and the external id',
  externalId: 'The id of the viewer in your product; null for a user of the account',
  email: 'The email that the session gave; null if it gave none',
  displayName: 'The name that others see; null if none was given',
};
const jwk = {
  kty: 'The family of the algorithm, as RFC 7517 names it',
  crv: 'The curve of the key',
  x: 'The public key itself',
  kid: 'What the header of a token names',
  alg: 'The algorithm that tokens are signed with',
  use: 'Always `sig`: the key checks signatures',
};

export const embedding: FieldWords = {
  ExplainViewerInput: { embedTenantName: 'The customer that the viewer belongs to' },
  ExplainedAttribute: { type: 'What kind of value it has' },
  GenerateSession: {
    deploymentId: 'The deployment whose dashboards the viewer sees',
    userProfile: 'What others see of an external user; absent fields stay as they are',
    embedTenantProfile: 'What people see of the embed tenant; absent fields stay as they are',
    settings: 'What the embedded page shows; the account decides what is absent',
    embedTheme: 'Colours and fonts of this session alone',
  },
  EmbedUserProfile: { displayName: 'The name that others see' },
  EmbedTenantProfile: { displayName: 'What people see instead of the name' },
  GenerateSessionDryRun: {
    errors: 'Everything that would be refused, not only the first',
    embedTenant: 'The embed tenant of the viewer',
    user: 'The user that the session would be for',
    groups: 'The memberships that data policies see',
    tenantGroups: 'The memberships that decide with whom content is shared',
    definitions: 'The groups and attributes that the request defines',
    userAttributes: 'What data policies would see, with where each value comes from',
  },
  DryRunError: {
    code: 'The code that the real call would return',
    message: 'What is wrong, for people',
    path: 'The place in the request; empty for the whole request',
  },
  DryRunEmbedTenant: { name: 'The name of the embed tenant', created: 'Whether the call would create it' },
  DryRunUser: {
    externalId: 'The external id of the user; null for a user of the account',
    created: 'Whether the call would create the user',
  },
  DryRunDefinitions: {
    created: 'The names that would be new',
    updated: 'The names whose description or default would change',
  },
  MembershipsBeforeAndAfter: {
    before: 'The names of the groups now, sorted',
    after: 'The names of the groups after the call, sorted',
  },
  EffectiveAttribute: {
    name: 'The name of the attribute',
    value: 'The value that policies would see; null for none',
    source: 'Where the value comes from',
  },
  PostTokenBySessionIdInput: { sessionId: 'What `generateSession` returned' },
  GenerateEmbedTokenResponse: { token: 'For `Authorization: Bearer …`, on every call of the embedded page' },
  EmbedSession: {
    embedTenantName: 'The customer that the viewer belongs to',
    creatorMode: 'Whether the viewer may make content of their own',
    user: 'Who the viewer is',
    settings: 'What the embedded page shows',
    embedTheme: 'Colours and fonts of the session; null for those of the account',
    launchpadTabs:
      'In creator mode: which parts the first page of explore has, as in the settings of the deployment',
    defaultLaunchpadViewGroup: 'In creator mode: the views that come first there',
    expiresAt: 'When the embed token stops working',
  },
  EmbedSessionUser: viewer,
  EmbedSettingsInForce: { showDashboardChat: 'Whether dashboards show a chat' },
  EmbedSessionEntry: {
    state: 'How far the session has come',
    embedTenantName: 'The customer that the viewer belongs to',
    externalId: 'The external user of the session; null for a user of the account',
    internalId: 'The username of a user of the account; null for an external user',
    creatorMode: 'Whether the viewer may make content of their own',
    apiKeyId: 'The API key that minted the session',
    createdAt: 'When the session was minted',
    exchangedAt: 'When the session was exchanged for a token; null if it was not',
    revokedAt: 'When the session was revoked; null if it was not',
    lastSeenAt: 'When its token was used last, to the minute or so; null if never',
  },
  RevokeEmbedSessionsInput: {
    embedTenantName: 'All sessions of this embed tenant, or of `externalId` within it',
    externalId: 'All sessions of this viewer; `embedTenantName` says of which customer',
    apiKeyId: 'All sessions that this API key minted',
    deploymentId: 'All sessions for this deployment',
  },
  EmbedTenant: {
    id: 'The number of the embed tenant',
    name: 'What sessions call it',
    displayName: 'What people see instead of `name`; null for none',
    userCount: 'How many external users it has',
  },
  EmbedUser: viewer,
  CreateEmbedGroupInput: { name: 'Unique in the embed tenant', ...groupDescription },
  UpdateEmbedGroupInput: { name: 'Unique in the embed tenant', ...groupDescription },
  EmbedGroupMemberInput: {
    embedUserId: 'The number of the user',
    externalId: 'The id of the user in your product',
  },
  EmbedGroupMembersInput: { members: 'Who; users that are not of the embed tenant are refused' },
  EmbedGroupMembersMutationResponse: { addedMembers: 'Those who were no members before' },
  EmbedAccessResponse: {
    allowEmbed: 'Whether viewers with an embed token can see the dashboard at all',
    allEmbedUsers: 'What holds for embed tenants without an entry of their own',
    tenants: 'The entries of single embed tenants, which count more',
  },
  EmbedAccessAllEmbedUsers: {
    enabled: 'Whether embed tenants without an entry see the dashboard',
    action: '`read` lets them see it, `none` does not',
    groupId: 'Always null; kept for older clients',
  },
  EmbedAccessTenantEntry: {
    embedTenantName: 'The embed tenant that the entry is for',
    action: '`read` lets its viewers see the dashboard, `none` does not',
  },
  UpdateEmbedAccessInput: {
    action: '`read` lets viewers see the dashboard, `none` does not; null removes an entry',
    allEmbedUsers: 'Whether `action` is for all embed tenants without an entry',
    embedTenantName: 'The embed tenant whose entry changes',
    allowEmbed: 'Whether viewers with an embed token can see the dashboard at all',
  },
  EmbedPythonFilteredRunInput: { reportId: 'A report of the published dashboard that has Python' },
  PythonAnalysisFilteredRun: {
    at: 'When the Python was run',
    executionError: 'What the Python failed with; null if it succeeded',
    inputRowCount: 'How many rows the Python was given',
    stderr: 'What the Python wrote to its error output',
    stdout: 'What the Python printed',
  },
  JsonWebKeySet: {
    keys: 'All keys that a valid token may be signed with: the present one and those before it',
  },
  JsonWebKey: jwk,
};
