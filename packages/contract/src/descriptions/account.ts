/** What the fields of the account mean: users, groups, roles, keys, attributes, settings, the audit log. */
import type { FieldWords } from './index.ts';

const user = {
  id: 'The number by which other operations name the user',
  username: 'Unique in the account; people sign in with it or with the email',
  email: 'Unique in the account, whatever the case of its letters',
  firstName: 'The name that colleagues see, beside the email',
  title: 'The role of the person in their company, as free text',
  externalId: 'The id of the user in your own systems, unique in the account',
  isAdmin: 'Whether the user has the role `Admin`, and so may do everything',
  isDeactivated: 'Whether all credentials of the user are refused',
  tosAccepted: 'Which terms the user has accepted, as clients noted it',
  lastLogin: 'When the user signed in last; null if never',
};
const role = {
  name: 'Unique in the account',
  description: 'What the role is for, for the people who give it',
  actions: 'What the role allows; `All` allows everything, also what is added later',
};
const attribute = {
  id: 'The number of the attribute',
  name: 'How data models and sessions name the attribute; it cannot change',
  type: 'The type that every value of the attribute must have',
  displayName: 'What people see instead of `name`',
  description: 'What the attribute is for, for the people who set its values',
};
const tenantSettings = {
  auditLogEnabled: 'Whether changes are written to the audit log',
  embedAllowedOrigins:
    'The sites whose pages may show embedded pages in a frame, and call what such pages call; empty for all',
  embedSql: 'Whether embed viewers may run SQL; without it, they ask with JSON queries only',
  hasSupportAccess: 'Whether the operator may look into the account to help; only kept',
  maintenanceWindowDay:
    'The weekday on which the operator may interrupt the service; only kept, for hosted installations',
  maintenanceWindowEnabled:
    'Whether the operator keeps to the maintenance window; only kept, for hosted installations',
  maintenanceWindowTime:
    'When the maintenance window begins, as hours and minutes in UTC; only kept, for hosted installations',
  oidcEnabled: 'Only kept: the settings of the server decide whether people sign in with a provider',
  useAIBIUserInterface: 'Which of two interfaces clients show; only kept',
  useCreatorMode: 'Whether sessions in creator mode can be minted',
};
const grant = {
  action: 'What is allowed on the resource',
  inheritedFrom: 'The resource above, if the policy stands there; null if it stands on this resource',
};
const policy = {
  resourceType: 'The kind of resource that the policy is for',
  resourceId: 'The number of that deployment, folder, workbook or report',
  action: 'What is allowed; null takes the policy away',
};

const apiKey = {
  id: 'The number of the key, which is not secret',
  name: 'What the key is for, as people wrote it',
  lastUsedAt: 'When the key was used last, to the minute or so; null if never',
};

export const account: FieldWords = {
  OAuthIntegration: {
    config: 'What the service needs beside its addresses, and which data sources may get tokens',
  },
  OidcTokenPreview: { header: 'How the token would be signed' },
  WorkloadKeySet: { keys: 'Newest first' },
  ApiKey: apiKey,
  CreatedApiKey: apiKey,
  CreateApiKeyInput: { name: 'What the key is for; people see it in the list of keys' },
  UpdateApiKeyInput: { name: 'The new name; the key itself stays the same' },
  AuditLogEntry: {
    id: 'Counts upwards, so a later entry has a larger number',
    createdAt: 'When the change was committed',
    resourceId: 'The number or the name of what was changed',
    deploymentId: 'The deployment in which it was changed; null for the account',
    userId: 'Who changed it; null if the server did so by itself',
    apiKeyId: 'The API key that was used; null for another credential',
    ip: 'The address that the request came from; null if the server did so by itself',
    requestId: 'The id of the request, as in `X-Request-Id` and in the log',
  },
  BulkActionError: {
    status: 'The HTTP status that the single operation would have had',
    message: 'Why it failed, for people',
  },
  BulkUserActionFailure: { userId: 'The user whose turn failed', error: 'Why it failed' },
  BulkUserActionInput: {
    action: 'What is done to each of the users',
    userIds: 'Whom it is done to; each user is a change of its own, so some may fail and others not',
  },
  BulkUserActionPayload: {
    action: 'What was done, as in the request',
    succeeded: 'The numbers of the users for whom it worked',
    failed: 'The users for whom it did not work, each with the reason',
  },
  CreateRoleInput: role,
  UpdateRoleInput: role,
  Role: {
    ...role,
    id: 'The number by which policies and users name the role',
    isBuiltIn: 'Whether every account has the role; such a role cannot be changed or deleted',
  },
  RoleWithAccess: { ...role, id: 'The number of the role' },
  CreateUserGroupInput: {
    name: 'Unique in the account',
    description: 'Who belongs to the group, for people',
  },
  UpdateUserGroupInput: {
    name: 'Unique in the account',
    description: 'Who belongs to the group, for people',
  },
  UserGroupDTO: {
    id: 'The number by which policies name the group',
    name: 'How data policies and sessions name the group; unique among its neighbours',
    description: 'Who belongs to the group, for people',
    userCount: 'How many members the group has; null if they were not counted',
  },
  UserGroupMember: user,
  UserGroupMembersInput: { userIds: 'Each number once; users of other embed tenants are refused' },
  CreatedUser: user,
  User: user,
  MeUpdateInput: { firstName: user.firstName, picture: 'An address of your picture; null removes it' },
  UserCreateInput: { firstName: user.firstName, externalId: user.externalId },
  UserUpdateInput: { firstName: user.firstName, title: user.title, tosAccepted: user.tosAccepted },
  ResourceOwner: { ...user, id: 'The number of the user' },
  NewManager: { id: 'The number of the user' },
  UserAttribute: attribute,
  UserAttributeCreateInput: attribute,
  UserAttributeDefinition: attribute,
  UserAttributeUpdateInput: attribute,
  UserAttributeInput: { name: 'The name of an attribute that exists, or that the same request defines' },
  UserAttributeValue: {
    ...attribute,
    userId: 'The user whose value it is',
    userAttributeId: 'The attribute that has the value',
  },
  UserAttributeValueCreateInput: {
    userAttributeId: 'The number of the attribute',
    userId: 'The number of the user',
    value: 'A value of the type of the attribute; null or absent removes the stored one',
  },
  TenantSettings: tenantSettings,
  TenantSettingsInput: tenantSettings,
  UserPolicy: {
    ...grant,
    userId: 'Who is allowed it',
  },
  GroupPolicy: { ...grant, groupId: 'The group whose members are allowed it', name: 'The name of the group' },
  PolicyCandidates: {
    users: 'Active people, or users of the embed tenant of the token',
    groups: 'Groups of the account, or of the embed tenant of the token',
    roles: 'Nothing for who may not list roles',
  },
  UserCandidate: { userId: 'The number by which policies name the user' },
  GroupCandidate: { groupId: 'The number by which policies name the group', name: 'The name of the group' },
  RoleCandidate: { roleId: 'The number by which policies name the role', name: 'The name of the role' },
  RolePolicy: { ...grant, roleId: 'The role whose holders are allowed it' },
  ResourcePolicies: {
    users: 'Policies for single users',
    groups: 'Policies for all members of a group',
    roles: 'Policies for everybody who has a role',
  },
  PolicyInheritedFrom: {
    resourceType: 'The kind of the resource that has the policy',
    resourceId: 'The number of the resource that has the policy',
    name: 'The name of that resource, for people',
  },
  SetGroupPolicyInput: { ...policy, groupId: 'The group whose members are allowed it' },
  SetRolePolicyInput: { ...policy, roleId: 'The role whose holders are allowed it' },
  SetUserPolicyInput: { ...policy, userId: 'Who is allowed it' },
};
