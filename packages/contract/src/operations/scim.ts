import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { OrNothing } from '../kinds.ts';
import { Never, Nothing, operation } from '../operation.ts';
import {
  listQuery,
  Scim,
  ScimBody,
  ScimConfig,
  ScimGroup,
  ScimGroupInput,
  ScimList,
  ScimPatch,
  ScimResourceType,
  ScimSchema,
  ScimSearch,
  ScimUser,
  ScimUserInput,
  shownQuery,
} from '../scim.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  SCIM: 'SCIM 2.0: an identity provider creates, changes and deactivates users and groups.',
} satisfies TagDefinitions;

export const errors = {
  scim_invalid_filter: { status: 400, message: 'The filter is not valid.', scimType: 'invalidFilter' },
  scim_invalid_path: { status: 400, message: 'The path is not valid.', scimType: 'invalidPath' },
  scim_no_target: { status: 400, message: 'The path matches nothing.', scimType: 'noTarget' },
  scim_read_only: { status: 400, message: 'The attribute cannot be changed.', scimType: 'mutability' },
  scim_too_many: {
    status: 400,
    message: 'The group has too many members for a reply: add `excludedAttributes=members`.',
    scimType: 'tooMany',
  },
  scim_schema_not_found: { status: 404, message: 'There is no such schema or resource type.' },
  scim_filter_not_supported: { status: 403, message: 'This list takes no filter.' },
  scim_bulk_not_supported: { status: 501, message: 'Bulk requests are not supported.' },
  scim_search_not_supported: {
    status: 501,
    message: 'Users and groups cannot be searched together: use /Users/.search or /Groups/.search.',
  },
} as const satisfies ErrorDefinitions;

/** RFC 7644, 4: a client that filters must not take everything for the result. */
const noFilter = { filter: Type.Optional(Type.String({ description: 'Refused with a 403' })) };
const common = { tag: 'SCIM', auth: 'management', permission: 'All', errorShape: 'scim' } as const;
const reads = { ...common, scopedKeys: 'allowed', audit: 'none' } as const;
const writes = { ...common, scopedKeys: 'refused' } as const;
/** SCIM's ids are texts. A text that is not an id is a 404. */
const one = { id: Type.String({ maxLength: 255, examples: ['2'] }) };
const listErrors = ['scim_invalid_filter'] as const;
const fieldErrors = ['scim_invalid_filter', 'scim_invalid_path', 'scim_no_target', 'scim_read_only'] as const;
const taken = ['username_taken', 'email_taken'] as const;
const location = { location: Type.String({ description: 'The address of the new resource' }) };
/** The largest body of a group: ten thousand members, with their names. */
const MEMBERS_BYTES = 2 * 1024 * 1024;

export const listScimUsers = operation({
  ...reads,
  id: 'listScimUsers',
  method: 'GET',
  path: '/api/scim/v2/Users',
  trailingSlash: true,
  summary: 'List or find users',
  description:
    'Users of the account, without the external users of embed tenants. A filter on `userName` or `externalId` finds one.',
  query: listQuery,
  reply: Scim(ScimList('ScimUsers', ScimUser)),
  errors: listErrors,
});

export const searchScimUsers = operation({
  ...reads,
  id: 'searchScimUsers',
  method: 'POST',
  path: '/api/scim/v2/Users/.search',
  summary: 'List or find users, with POST',
  description: 'The same as the list, for filters that are too long for an address or must not be logged.',
  body: ScimBody(ScimSearch),
  reply: listScimUsers.reply,
  errors: listErrors,
});

export const createScimUser = operation({
  ...writes,
  id: 'createScimUser',
  method: 'POST',
  path: '/api/scim/v2/Users',
  trailingSlash: true,
  summary: 'Create a user',
  description:
    'The user is a `Viewer` and has no password. Without `emails`, the user name must be an email address.',
  query: shownQuery,
  body: ScimBody(ScimUserInput),
  reply: Scim(ScimUser),
  status: 201,
  replyHeaders: location,
  conditional: 'sent',
  errors: taken,
  audit: 'user',
});

export const getScimUser = operation({
  ...reads,
  id: 'getScimUser',
  method: 'GET',
  path: '/api/scim/v2/Users/{id}',
  summary: 'Get a user',
  description: 'External users of embed tenants are not part of SCIM, so they are not found.',
  params: one,
  query: shownQuery,
  reply: Scim(ScimUser),
  conditional: true,
  errors: ['user_not_found'],
});

export const replaceScimUser = operation({
  ...writes,
  id: 'replaceScimUser',
  method: 'PUT',
  path: '/api/scim/v2/Users/{id}',
  summary: 'Replace the attributes of a user',
  description: 'Clears absent attributes, except `active` and the email, which stay as they are.',
  params: one,
  query: shownQuery,
  body: ScimBody(ScimUserInput),
  reply: Scim(ScimUser),
  conditional: true,
  errors: ['user_not_found', 'last_admin', ...taken],
  audit: 'user',
});

export const patchScimUser = operation({
  ...writes,
  id: 'patchScimUser',
  method: 'PATCH',
  path: '/api/scim/v2/Users/{id}',
  summary: 'Change some attributes of a user',
  description: 'All operations are applied, or none. `active: false` deactivates the user.',
  params: one,
  query: shownQuery,
  body: ScimBody(ScimPatch),
  reply: Scim(ScimUser),
  conditional: true,
  errors: ['user_not_found', 'last_admin', ...taken, ...fieldErrors],
  audit: 'user',
});

export const deleteScimUser = operation({
  ...writes,
  id: 'deleteScimUser',
  method: 'DELETE',
  path: '/api/scim/v2/Users/{id}',
  summary: 'Delete a user',
  description: 'The folders, workbooks and reports of the user go to the caller.',
  params: one,
  reply: Nothing,
  conditional: true,
  errors: ['user_not_found', 'invalid_reference', 'user_owns_content', 'last_admin'],
  audit: 'user',
});

export const listScimGroups = operation({
  ...reads,
  id: 'listScimGroups',
  method: 'GET',
  path: '/api/scim/v2/Groups',
  trailingSlash: true,
  summary: 'List or find groups',
  description: 'A page may end before `count`, if its groups have very many members.',
  query: listQuery,
  reply: Scim(ScimList('ScimGroups', ScimGroup)),
  errors: [...listErrors, 'scim_too_many'],
});

export const searchScimGroups = operation({
  ...reads,
  id: 'searchScimGroups',
  method: 'POST',
  path: '/api/scim/v2/Groups/.search',
  summary: 'List or find groups, with POST',
  description: 'The same as the list, for filters that are too long for an address or must not be logged.',
  body: ScimBody(ScimSearch),
  reply: listScimGroups.reply,
  errors: [...listErrors, 'scim_too_many'],
});

export const createScimGroup = operation({
  ...writes,
  id: 'createScimGroup',
  method: 'POST',
  path: '/api/scim/v2/Groups',
  trailingSlash: true,
  summary: 'Create a group',
  description: 'Its members can be given at once; each must be a user of the account.',
  query: shownQuery,
  body: ScimBody(ScimGroupInput),
  bodyLimitBytes: MEMBERS_BYTES,
  reply: Scim(ScimGroup),
  status: 201,
  replyHeaders: location,
  conditional: 'sent',
  errors: ['group_name_taken', 'invalid_reference'],
  audit: 'userGroup',
});

export const getScimGroup = operation({
  ...reads,
  id: 'getScimGroup',
  method: 'GET',
  path: '/api/scim/v2/Groups/{id}',
  summary: 'Get a group with its members',
  description: 'At most 20,000 members are listed; leave them out with `excludedAttributes=members`.',
  params: one,
  query: shownQuery,
  reply: Scim(ScimGroup),
  conditional: true,
  errors: ['group_not_found', 'scim_too_many'],
});

export const replaceScimGroup = operation({
  ...writes,
  id: 'replaceScimGroup',
  method: 'PUT',
  path: '/api/scim/v2/Groups/{id}',
  summary: 'Replace the name and the members of a group',
  description: 'Without `members`, the group has no members afterwards.',
  params: one,
  query: shownQuery,
  body: ScimBody(ScimGroupInput),
  bodyLimitBytes: MEMBERS_BYTES,
  reply: Scim(ScimGroup),
  conditional: true,
  errors: ['group_not_found', 'group_name_taken', 'invalid_reference'],
  audit: 'userGroup',
});

export const patchScimGroup = operation({
  ...writes,
  id: 'patchScimGroup',
  method: 'PATCH',
  path: '/api/scim/v2/Groups/{id}',
  summary: 'Rename a group, or add and remove members',
  description:
    'All operations are applied, or none. A `remove` with a `value` removes only those members. Returns the group if `attributes` or `excludedAttributes` is given, and else a 204.',
  params: one,
  query: shownQuery,
  body: ScimBody(ScimPatch),
  bodyLimitBytes: MEMBERS_BYTES,
  reply: OrNothing(Scim(ScimGroup)),
  conditional: true,
  errors: ['group_not_found', 'group_name_taken', 'invalid_reference', 'scim_too_many', ...fieldErrors],
  audit: 'userGroup',
});

export const deleteScimGroup = operation({
  ...writes,
  id: 'deleteScimGroup',
  method: 'DELETE',
  path: '/api/scim/v2/Groups/{id}',
  summary: 'Delete a group',
  description: 'Its members stay, and lose what only the group allowed them.',
  params: one,
  reply: Nothing,
  conditional: true,
  errors: ['group_not_found'],
  audit: 'userGroup',
});

export const getScimConfig = operation({
  ...reads,
  id: 'getScimConfig',
  method: 'GET',
  path: '/api/scim/v2/ServiceProviderConfig',
  summary: 'Show which parts of SCIM are supported',
  description:
    'What RFC 7643 calls the service provider configuration; clients ask for it before they begin.',
  query: noFilter,
  reply: Scim(ScimConfig),
  errors: ['scim_filter_not_supported'],
});

export const listScimResourceTypes = operation({
  ...reads,
  id: 'listScimResourceTypes',
  method: 'GET',
  path: '/api/scim/v2/ResourceTypes',
  summary: 'List the types of resources',
  description: 'There are two: users and groups.',
  query: noFilter,
  reply: Scim(ScimList('ScimResourceTypes', ScimResourceType)),
  errors: ['scim_filter_not_supported'],
});

export const getScimResourceType = operation({
  ...reads,
  id: 'getScimResourceType',
  method: 'GET',
  path: '/api/scim/v2/ResourceTypes/{id}',
  summary: 'Get a type of resources',
  description: 'Says at which path resources of this kind are, and which schema they follow.',
  params: one,
  reply: Scim(ScimResourceType),
  errors: ['scim_schema_not_found'],
});

export const listScimSchemas = operation({
  ...reads,
  id: 'listScimSchemas',
  method: 'GET',
  path: '/api/scim/v2/Schemas',
  summary: 'List the schemas of the resources',
  description: 'The schemas of users and groups, with the attributes that this server keeps.',
  query: noFilter,
  reply: Scim(ScimList('ScimSchemas', ScimSchema)),
  errors: ['scim_filter_not_supported'],
});

export const getScimSchema = operation({
  ...reads,
  id: 'getScimSchema',
  method: 'GET',
  path: '/api/scim/v2/Schemas/{id}',
  summary: 'Get the schema of a resource',
  description: 'Only the attributes that this server keeps are listed.',
  params: one,
  reply: Scim(ScimSchema),
  errors: ['scim_schema_not_found'],
});

export const postScimBulk = operation({
  ...reads,
  id: 'postScimBulk',
  method: 'POST',
  path: '/api/scim/v2/Bulk',
  summary: 'Refuse bulk requests',
  description: 'Always a 501, as the configuration of the service says. The body is not read.',
  reply: Never,
  errors: ['scim_bulk_not_supported'],
});

export const postScimSearch = operation({
  ...reads,
  id: 'postScimSearch',
  method: 'POST',
  path: '/api/scim/v2/.search',
  summary: 'Refuse searches over users and groups together',
  description:
    'Always a 501, which tells clients to search at `/Users/.search` and `/Groups/.search`. The body is not read.',
  reply: Never,
  errors: ['scim_search_not_supported'],
});
