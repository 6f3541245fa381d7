import { type TSchema, Type } from 'typebox';
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
  description: 'Null if the resource was shared by id alone, by somebody who may not list roles',
};
const address = {
  description: 'Null for embed tokens, and if the resource was shared by somebody who may not list people',
};
const shownName = {
  description: 'The display name, or the first part of the name that the user signs in with',
};

const ResourcePolicies = Shape('ResourcePolicies', {
  users: Type.Array(
    Shape('UserPolicy', {
      userId: Id,
      email: Nullable(Type.String(address)),
      firstName: Maybe(Type.String(shownName)),
      picture: Maybe(Type.String()),
      ...granted,
    }),
  ),
  groups: Type.Array(Shape('GroupPolicy', { groupId: Id, name: Nullable(Type.String()), ...granted })),
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
  embed: 'creator',
  id: 'getResourcePolicies',
  method: 'GET',
  path: '/api/v1/resource-policies',
  trailingSlash: true,
  summary: 'List who may do what with a resource',
  description:
    'The caller must manage the resource. The list includes policies of the resources above it, with the resource that each comes from. Embed tokens in creator mode see the users and groups of their own embed tenant.',
  query: resource,
  errors: [...common.errors, 'outside_key_scope'],
  reply: ResourcePolicies,
  scopedKeys: 'handler',
  audit: 'none',
});

/** The most users, groups and roles of a reply. A caller that misses one searches for more of its name. */
const CANDIDATES_MAX = 20;
const list = <Item extends TSchema>(item: Item) => Type.Array(item, { maxItems: CANDIDATES_MAX });

export const findPolicyCandidates = operation({
  ...common,
  embed: 'creator',
  id: 'findPolicyCandidates',
  method: 'GET',
  path: '/api/v1/resource-policies/candidates',
  summary: 'Find people and groups to share a resource with',
  description: `The caller must manage the resource. Returns at most ${CANDIDATES_MAX} of each kind whose name has the text. Roles are for callers who may list them. Embed tokens in creator mode find the users and groups of their own embed tenant.`,
  query: {
    ...resource,
    search: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'A part of the name, in upper or lower case',
      examples: ['ada'],
    }),
  },
  reply: Shape('PolicyCandidates', {
    users: list(
      Shape('UserCandidate', { userId: Id, name: Type.String(shownName), picture: Maybe(Type.String()) }),
    ),
    groups: list(Shape('GroupCandidate', { groupId: Id, name: Type.String() })),
    roles: list(Shape('RoleCandidate', { roleId: Id, name: Type.String() })),
  }),
  errors: [...common.errors, 'outside_key_scope'],
  scopedKeys: 'handler',
  audit: 'none',
});

export const setUserPolicy = operation({
  ...setter,
  embed: 'creator',
  id: 'setUserPolicy',
  path: '/api/v1/resource-policies/user',
  summary: 'Give a user an action on a resource, or take it away',
  description:
    'Each user has at most one action on a resource, so this replaces the one before. It also counts for everything inside of the resource. Embed tokens in creator mode name users of their own embed tenant.',
  body: Shape('SetUserPolicyInput', { ...resource, userId: Id, action }),
});

export const setGroupPolicy = operation({
  ...setter,
  embed: 'creator',
  id: 'setGroupPolicy',
  path: '/api/v1/resource-policies/group',
  summary: 'Give a group an action on a resource, or take it away',
  description:
    'Each group has at most one action on a resource, so this replaces the one before. It also counts for everything inside of the resource. Embed tokens in creator mode name groups of their own embed tenant.',
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
