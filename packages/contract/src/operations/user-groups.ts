import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { GroupName, UserGroup, UserGroups } from '../groups.ts';
import { alsoAs, Nothing, operation } from '../operation.ts';
import { CursorPage, cursorQuery, Id, Maybe, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'User Groups': 'Groups of users of the account.',
} satisfies TagDefinitions;

export const errors = {
  group_not_found: { status: 404, message: 'There is no such group.' },
  group_name_taken: { status: 409, message: 'Another group has this name.', scimType: 'uniqueness' },
} as const satisfies ErrorDefinitions;

const Member = Shape('UserGroupMember', {
  id: Id,
  username: Type.String(),
  email: Type.String(),
  firstName: Maybe(Type.String()),
  picture: Maybe(Type.String()),
});

const Members = Shape('UserGroupMembersInput', {
  userIds: Type.Array(Id, { minItems: 1, maxItems: 1000, uniqueItems: true }),
});

const common = { tag: 'User Groups', auth: 'management', permission: 'All' } as const;
const one = { id: Id };
const description = Maybe(Type.String({ maxLength: 1000 }));

export const listUserGroups = operation({
  ...common,
  id: 'listUserGroups',
  method: 'GET',
  path: '/api/v1/user-groups',
  trailingSlash: true,
  summary: 'List groups of users',
  description: 'Oldest first.',
  query: cursorQuery,
  reply: UserGroups,
  scopedKeys: 'allowed',
  audit: 'none',
});

export const createUserGroup = operation({
  ...common,
  id: 'createUserGroup',
  method: 'POST',
  path: '/api/v1/user-groups',
  trailingSlash: true,
  summary: 'Create a group',
  description: 'Policies and data models name groups, so that they need not name users.',
  body: Shape(
    'CreateUserGroupInput',
    { name: GroupName, description },
    { examples: [{ name: 'Finance', description: 'Closes the books' }] },
  ),
  reply: UserGroup,
  errors: ['group_name_taken'],
  scopedKeys: 'refused',
  audit: 'userGroup',
});

export const getUserGroup = operation({
  ...common,
  id: 'getUserGroup',
  method: 'GET',
  path: '/api/v1/user-groups/{id}',
  summary: 'Get a group',
  description: 'Its members are a list of their own.',
  params: one,
  reply: UserGroup,
  errors: ['group_not_found'],
  scopedKeys: 'allowed',
  audit: 'none',
});

export const updateUserGroup = operation({
  ...common,
  id: 'updateUserGroup',
  method: 'PUT',
  path: '/api/v1/user-groups/{id}',
  summary: 'Change the name or the description of a group',
  description: 'Data models that name the group must be changed too if its name changes.',
  params: one,
  body: Shape('UpdateUserGroupInput', { name: Type.Optional(GroupName), description }),
  reply: UserGroup,
  errors: ['group_not_found', 'group_name_taken'],
  scopedKeys: 'refused',
  audit: 'userGroup',
});

export const deleteUserGroup = operation({
  ...common,
  id: 'deleteUserGroup',
  method: 'DELETE',
  path: '/api/v1/user-groups/{id}',
  summary: 'Delete a group',
  description: 'Also removes the policies for the group. Its members are not deleted.',
  params: one,
  reply: Nothing,
  errors: ['group_not_found'],
  scopedKeys: 'refused',
  audit: 'userGroup',
});

export const deleteUserGroupAtGroups = alsoAs(deleteUserGroup, {
  id: 'deleteUserGroupAtGroups',
  path: '/api/v1/groups/{id}',
  summary: 'Delete a group, at its shorter address',
});

export const getUserGroupMembers = operation({
  ...common,
  id: 'getUserGroupMembers',
  method: 'GET',
  path: '/api/v1/user-groups/{id}/users',
  summary: 'List the members of a group',
  description: 'Oldest members first, by the number of the user.',
  params: one,
  query: cursorQuery,
  reply: CursorPage('UserGroupMembersResponse', Member),
  errors: ['group_not_found'],
  scopedKeys: 'allowed',
  audit: 'none',
});

export const addUserGroupMembers = operation({
  ...common,
  id: 'addUserGroupMembers',
  method: 'POST',
  path: '/api/v1/user-groups/{id}/users',
  summary: 'Add members to a group',
  description:
    'Users who are members already stay members. If one of the users does not exist, nobody is added.',
  params: one,
  body: Members,
  reply: UserGroup,
  errors: ['group_not_found', 'invalid_reference'],
  scopedKeys: 'refused',
  audit: 'userGroup',
});

export const removeUserGroupMembers = operation({
  ...common,
  id: 'removeUserGroupMembers',
  method: 'DELETE',
  path: '/api/v1/user-groups/{id}/users',
  summary: 'Remove members from a group',
  description: 'Users who are not members are ignored.',
  params: one,
  body: Members,
  reply: Nothing,
  errors: ['group_not_found'],
  scopedKeys: 'refused',
  audit: 'userGroup',
});
