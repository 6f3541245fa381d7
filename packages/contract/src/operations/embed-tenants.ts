import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { GroupName, UserGroup, UserGroups } from '../groups.ts';
import { Nothing, operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Maybe, nullableCursorQuery, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Embed Tenants': 'Customers whose viewers are embedded, with their users and groups.',
} satisfies TagDefinitions;

export const errors = {
  embed_tenant_not_found: { status: 404, message: 'There is no such embed tenant.' },
  embed_tenant_is_own: { status: 409, message: "The account's own embed tenant cannot be deleted." },
  embed_content_limit_reached: {
    status: 403,
    message:
      'The embed tenant has as many folders, workbooks and reports as it may have. Delete some, or ask an admin to raise `embedContentLimit` in the settings of the account.',
  },
} as const satisfies ErrorDefinitions;

const EmbedTenant = Shape('EmbedTenant', {
  id: Id,
  name: Type.String({ examples: ['acme-corp'] }),
  displayName: Maybe(Type.String({ examples: ['Acme Corporation'] })),
  createdAt: DateTime,
  userCount: Type.Integer({ minimum: 0 }),
});

const EmbedUser = Shape('EmbedUser', {
  id: Id,
  username: Type.String(),
  externalId: Type.String({ description: 'The id of the user in the embedding product' }),
  email: Maybe(Type.String({ description: 'Null if none was given' })),
  firstName: Maybe(Type.String({ description: 'The display name' })),
  createdAt: DateTime,
  lastLogin: Maybe(DateTime),
});

const EmbedUsers = CursorPage('EmbedUsersPublicResponse', EmbedUser);

const Members = Shape('EmbedGroupMembersInput', {
  members: Type.Array(
    Shape(
      'EmbedGroupMemberInput',
      { embedUserId: Maybe(Id), externalId: Maybe(Type.String({ minLength: 1, maxLength: 255 })) },
      { description: 'A user of the embed tenant, named by exactly one of the two fields' },
    ),
    { minItems: 1, maxItems: 1000 },
  ),
});

const common = { tag: 'Embed Tenants', auth: 'management', permission: 'All' } as const;
// A name that breaks the naming rule is not a 400. No embed tenant has it, so the reply is a 404 as for any unknown name.
const embedTenantName = Type.String({ maxLength: 256, examples: ['acme-corp'] });
const tenant = { embedTenantName };
const group = { embedTenantName, id: Id };
const path = '/api/v1/embed-tenants/{embedTenantName}';
const search = (where: string) =>
  Maybe(Type.String({ maxLength: 255, description: `A part of the ${where}, in upper or lower case` }));
const description = Maybe(Type.String({ maxLength: 500 }));

export const listEmbedTenants = operation({
  ...common,
  id: 'listEmbedTenants',
  method: 'GET',
  path: '/api/v1/embed-tenants',
  trailingSlash: true,
  summary: 'List embed tenants',
  description: 'Oldest first.',
  query: { search: search('name or display name'), ...cursorQuery },
  reply: CursorPage('EmbedTenantsPublicResponse', EmbedTenant),
  scopedKeys: 'allowed',
  audit: 'none',
});

export const deleteEmbedTenant = operation({
  ...common,
  id: 'deleteEmbedTenant',
  method: 'DELETE',
  path,
  summary: 'Delete an embed tenant',
  description:
    'Also deletes its users, groups, attributes, sessions and content in every deployment. Tokens of its users stop working at once.',
  params: tenant,
  reply: Nothing,
  errors: ['embed_tenant_not_found', 'embed_tenant_is_own'],
  scopedKeys: 'refused',
  audit: 'embedTenant',
});

export const listEmbedUsers = operation({
  ...common,
  id: 'listEmbedUsers',
  method: 'GET',
  path: `${path}/users`,
  summary: 'List the users of an embed tenant',
  description: 'Oldest first.',
  params: tenant,
  query: { search: search('external id, email or display name'), ...cursorQuery },
  reply: EmbedUsers,
  errors: ['embed_tenant_not_found'],
  scopedKeys: 'allowed',
  audit: 'none',
});

export const getGroups = operation({
  ...common,
  id: 'getGroups',
  method: 'GET',
  path: `${path}/groups`,
  summary: 'List the groups of an embed tenant',
  description:
    'Oldest first. Sessions in creator mode name these groups, both in `groups` and in `tenantGroups`.',
  params: tenant,
  query: nullableCursorQuery,
  reply: UserGroups,
  errors: ['embed_tenant_not_found'],
  scopedKeys: 'allowed',
  audit: 'none',
});

export const createGroup = operation({
  ...common,
  id: 'createGroup',
  method: 'POST',
  path: `${path}/groups`,
  summary: 'Create a group in an embed tenant',
  description: 'Sessions in creator mode name the group, and data policies see it.',
  params: tenant,
  body: Shape('CreateEmbedGroupInput', { name: GroupName, description }),
  reply: UserGroup,
  errors: ['embed_tenant_not_found', 'group_name_taken'],
  scopedKeys: 'refused',
  audit: 'embedGroup',
});

export const getGroup = operation({
  ...common,
  id: 'getGroup',
  method: 'GET',
  path: `${path}/groups/{id}`,
  summary: 'Get a group of an embed tenant',
  description: 'Its members are a list of their own.',
  params: group,
  reply: UserGroup,
  errors: ['embed_tenant_not_found', 'group_not_found'],
  scopedKeys: 'allowed',
  audit: 'none',
});

export const updateGroup = operation({
  ...common,
  id: 'updateGroup',
  method: 'PATCH',
  path: `${path}/groups/{id}`,
  summary: 'Change the description of a group of an embed tenant',
  description: 'Null clears the description. The name cannot change, because sessions refer to it.',
  params: group,
  body: Shape('UpdateEmbedGroupInput', { description }),
  reply: UserGroup,
  errors: ['embed_tenant_not_found', 'group_not_found'],
  scopedKeys: 'refused',
  audit: 'embedGroup',
});

export const deleteGroup = operation({
  ...common,
  id: 'deleteGroup',
  method: 'DELETE',
  path: `${path}/groups/{id}`,
  summary: 'Delete a group of an embed tenant',
  description: 'The members of the group are not deleted.',
  params: group,
  reply: Nothing,
  errors: ['embed_tenant_not_found', 'group_not_found'],
  scopedKeys: 'refused',
  audit: 'embedGroup',
});

export const getGroupMembers = operation({
  ...common,
  id: 'getGroupMembers',
  method: 'GET',
  path: `${path}/groups/{id}/users`,
  summary: 'List the members of a group of an embed tenant',
  description: 'The users whom sessions added to the group by `groups`, by `tenantGroups`, or by both.',
  params: group,
  query: nullableCursorQuery,
  reply: EmbedUsers,
  errors: ['embed_tenant_not_found', 'group_not_found'],
  scopedKeys: 'allowed',
  audit: 'none',
});

export const addGroupMembers = operation({
  ...common,
  id: 'addGroupMembers',
  method: 'POST',
  path: `${path}/groups/{id}/users`,
  summary: 'Add members to a group of an embed tenant',
  description:
    'Each user becomes a member in both ways: as by `groups` and as by `tenantGroups` of a session. If the embed tenant has no user with an `externalId`, the user is created, within the limit on external users. If an `embedUserId` belongs to no user of the embed tenant, nobody is added. A user who is named twice counts once.',
  params: group,
  body: Members,
  bodyLimitBytes: 1024 * 1024,
  reply: Shape('EmbedGroupMembersMutationResponse', {
    addedMembers: Type.Array(EmbedUser),
    unchangedMembers: Type.Array(EmbedUser, {
      description: 'The users who were members in both ways before',
    }),
  }),
  errors: [
    'embed_tenant_not_found',
    'group_not_found',
    'user_not_found',
    'invalid_external_id',
    'external_user_limit_reached',
  ],
  scopedKeys: 'refused',
  audit: 'embedGroup',
});

export const removeGroupMembers = operation({
  ...common,
  id: 'removeGroupMembers',
  method: 'DELETE',
  path: `${path}/groups/{id}/users`,
  summary: 'Remove members from a group of an embed tenant',
  description: 'Each membership ends in both ways. Users who are not members are ignored.',
  params: group,
  body: Members,
  bodyLimitBytes: 1024 * 1024,
  reply: Nothing,
  errors: ['embed_tenant_not_found', 'group_not_found'],
  scopedKeys: 'refused',
  audit: 'embedGroup',
});
