import { Type } from 'typebox';
import { actions } from '../actions.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { Nothing, operation } from '../operation.ts';
import { CursorPage, cursorQuery, Id, Maybe, Name, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Roles: 'Named sets of actions, across the account.',
} satisfies TagDefinitions;

export const errors = {
  role_not_found: { status: 404, message: 'There is no such role.' },
  role_name_taken: { status: 409, message: 'Another role has this name.' },
  role_built_in: { status: 409, message: 'A built-in role cannot be changed or deleted.' },
} as const satisfies ErrorDefinitions;

// With a type beside the enum, the validator finds duplicates in time that is linear in the length of the list.
const Actions = Type.Array(Type.Enum([...actions], { type: 'string' }), {
  uniqueItems: true,
  maxItems: actions.length,
});

const Role = Shape('Role', {
  id: Id,
  name: Type.String(),
  description: Maybe(Type.String()),
  actions: Actions,
  isBuiltIn: Type.Boolean(),
});

const common = { tag: 'Roles', auth: 'management', permission: 'All' } as const;
const description = Maybe(Type.String({ maxLength: 1000 }));

export const listRoles = operation({
  ...common,
  id: 'listRoles',
  method: 'GET',
  path: '/api/v1/roles',
  trailingSlash: true,
  summary: 'List roles',
  description: 'Oldest first. The list includes the built-in roles.',
  query: cursorQuery,
  reply: CursorPage('RolesListResponse', Role),
  scopedKeys: 'allowed',
  audit: 'none',
});

export const createRole = operation({
  ...common,
  id: 'createRole',
  method: 'POST',
  path: '/api/v1/roles',
  trailingSlash: true,
  summary: 'Create a role',
  description: 'The role allows nobody anything until users, groups or policies have it.',
  body: Shape(
    'CreateRoleInput',
    { name: Name, description, actions: Actions },
    {
      examples: [
        { name: 'Auditor', description: 'Reads everything', actions: ['DeploymentRead', 'ReportRead'] },
      ],
    },
  ),
  reply: Role,
  errors: ['role_name_taken'],
  scopedKeys: 'refused',
  audit: 'role',
});

export const getRole = operation({
  ...common,
  id: 'getRole',
  method: 'GET',
  path: '/api/v1/roles/{id}',
  summary: 'Get a role',
  description: 'Built-in roles can be read like any other.',
  params: { id: Id },
  reply: Role,
  errors: ['role_not_found'],
  scopedKeys: 'allowed',
  audit: 'none',
});

export const updateRole = operation({
  ...common,
  id: 'updateRole',
  method: 'PUT',
  path: '/api/v1/roles/{id}',
  summary: 'Change a role that is not built in',
  description: 'The change counts for everybody who has the role, within a second.',
  params: { id: Id },
  body: Shape('UpdateRoleInput', { name: Type.Optional(Name), description, actions: Type.Optional(Actions) }),
  reply: Role,
  errors: ['role_not_found', 'role_name_taken', 'role_built_in', 'last_admin'],
  scopedKeys: 'refused',
  audit: 'role',
});

export const deleteRole = operation({
  ...common,
  id: 'deleteRole',
  method: 'DELETE',
  path: '/api/v1/roles/{id}',
  summary: 'Delete a role that is not built in',
  description: 'All users lose the role, and the policies for it are removed.',
  params: { id: Id },
  reply: Nothing,
  errors: ['role_not_found', 'role_built_in', 'last_admin'],
  scopedKeys: 'refused',
  audit: 'role',
});
