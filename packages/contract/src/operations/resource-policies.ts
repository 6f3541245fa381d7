import { Type } from 'typebox';
import { actions } from '../actions.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { operation } from '../operation.ts';
import { Id, Maybe, Nullable, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Resource Policies': 'Who may do what with one deployment, folder, workbook, report or dashboard.',
} satisfies TagDefinitions;

export const errors = {
  action_not_applicable: { status: 400, message: 'This action cannot be given on this kind of resource.' },
  resource_not_found: { status: 404, message: 'There is no such resource.' },
} as const satisfies ErrorDefinitions;

const ResourceType = Type.Enum(['Deployment', 'Folder', 'Workbook', 'Report', 'Dashboard'], {
  title: 'PolicyResourceType',
});
const PolicyAction = Type.Enum([...actions], { title: 'Action' });

const InheritedFrom = Shape('PolicyInheritedFrom', {
  resourceType: ResourceType,
  resourceId: Id,
  name: Type.String(),
});
const granted = { action: PolicyAction, inheritedFrom: Nullable(InheritedFrom) };

const unnamed = {
  description: 'Null if the resource was shared by id alone, by somebody who may not list names',
};

const ResourcePolicies = Shape('ResourcePolicies', {
  users: Type.Array(
    Shape('UserPolicy', {
      userId: Id,
      email: Nullable(Type.String(unnamed)),
      firstName: Maybe(Type.String()),
      picture: Maybe(Type.String()),
      ...granted,
    }),
  ),
  groups: Type.Array(Shape('GroupPolicy', { groupId: Id, name: Nullable(Type.String(unnamed)), ...granted })),
  roles: Type.Array(Shape('RolePolicy', { roleId: Id, name: Nullable(Type.String(unnamed)), ...granted })),
});

const resource = { resourceType: ResourceType, resourceId: Id };
/** Without an action, the policy is removed. */
const action = Maybe(PolicyAction);

const common = {
  tag: 'Resource Policies',
  auth: 'management',
  permission: 'none',
  errors: ['resource_not_found', 'forbidden'],
} as const;
const setter = {
  ...common,
  method: 'PUT',
  scopedKeys: 'handler',
  errors: [...common.errors, 'outside_key_scope', 'invalid_reference', 'action_not_applicable'],
  reply: ResourcePolicies,
  audit: 'resourcePolicy',
} as const;

export const getResourcePolicies = operation({
  ...common,
  id: 'getResourcePolicies',
  method: 'GET',
  path: '/api/v1/resource-policies',
  trailingSlash: true,
  summary: 'List who may do what with a resource',
  description:
    'The caller must manage the resource. The list includes policies of the resources above it, with the resource that each comes from.',
  query: resource,
  errors: [...common.errors, 'outside_key_scope'],
  reply: ResourcePolicies,
  scopedKeys: 'handler',
  audit: 'none',
});

export const setUserPolicy = operation({
  ...setter,
  id: 'setUserPolicy',
  path: '/api/v1/resource-policies/user',
  summary: 'Give a user an action on a resource, or take it away',
  description:
    'Each user has at most one action on a resource, so this replaces the one before. It also counts for everything inside of the resource.',
  body: Shape('SetUserPolicyInput', { ...resource, userId: Id, action }),
});

export const setGroupPolicy = operation({
  ...setter,
  id: 'setGroupPolicy',
  path: '/api/v1/resource-policies/group',
  summary: 'Give a group an action on a resource, or take it away',
  description:
    'Each group has at most one action on a resource, so this replaces the one before. It also counts for everything inside of the resource.',
  body: Shape('SetGroupPolicyInput', { ...resource, groupId: Id, action }),
});

export const setRolePolicy = operation({
  ...setter,
  id: 'setRolePolicy',
  path: '/api/v1/resource-policies/role',
  summary: 'Give a role an action on a resource, or take it away',
  description:
    'Each role has at most one action on a resource, so this replaces the one before. It also counts for everything inside of the resource.',
  body: Shape('SetRolePolicyInput', { ...resource, roleId: Id, action }),
});
