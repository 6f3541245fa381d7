import { Type } from 'typebox';
import { DefaultValue, UserAttributeType } from '../attributes.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { Nothing, operation } from '../operation.ts';
import { cursorQuery, Id, Maybe, Name, PageInfo, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'User Attributes': 'Attributes of users that data policies can refer to.',
} satisfies TagDefinitions;

export const errors = {
  invalid_default_value: {
    status: 400,
    message: 'The default value does not fit the type of the attribute.',
  },
  user_attribute_not_found: { status: 404, message: 'There is no such attribute.' },
  attribute_name_taken: { status: 409, message: 'Another attribute has this name.' },
} as const satisfies ErrorDefinitions;

const UserAttribute = Shape('UserAttribute', {
  id: Id,
  name: Type.String(),
  type: UserAttributeType,
  displayName: Maybe(Type.String()),
  defaultValue: Maybe(DefaultValue),
  description: Maybe(Type.String()),
});

const changeable = {
  displayName: Maybe(Type.String({ maxLength: 255 })),
  defaultValue: Maybe(DefaultValue),
  description: Maybe(Type.String({ maxLength: 1000 })),
};

const common = { tag: 'User Attributes', auth: 'management', permission: 'All' } as const;
const one = { id: Id };

export const getUserAttributes = operation({
  ...common,
  id: 'getUserAttributes',
  method: 'GET',
  path: '/api/v1/user-attributes',
  trailingSlash: true,
  summary: 'List the tenant-wide attributes of users',
  description:
    'Oldest first. Attributes of embed tenants are not included. Page with `first` and `after`; `offset` and `limit` are the older way and return `pageInfo: null`.',
  query: {
    offset: Maybe(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        deprecated: true,
        description: 'The number of items to skip, in the older way; 0 by default',
      }),
    ),
    limit: Maybe(
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        deprecated: true,
        description: 'Page size of the older way; 50 by default',
      }),
    ),
    name: Maybe(Type.String({ description: 'Only the attribute with exactly this name' })),
    type: Maybe(UserAttributeType),
    ...cursorQuery,
  },
  reply: Shape('UserAttributesListResponse', {
    items: Type.Array(UserAttribute),
    data: Type.Array(UserAttribute, { deprecated: true, description: 'The same as `items`' }),
    count: Type.Integer({
      minimum: 0,
      deprecated: true,
      description: 'The number of matching attributes on all pages together',
    }),
    pageInfo: Maybe(PageInfo),
  }),
  errors: ['mixed_pagination'],
  scopedKeys: 'allowed',
  audit: 'none',
});

export const createUserAttribute = operation({
  ...common,
  id: 'createUserAttribute',
  method: 'POST',
  path: '/api/v1/user-attributes',
  trailingSlash: true,
  summary: 'Create a tenant-wide attribute',
  description: 'Data policies can compare rows with the value that each user has for it.',
  body: Shape(
    'UserAttributeCreateInput',
    { name: Name, type: UserAttributeType, ...changeable },
    { examples: [{ name: 'country', type: 'string', displayName: 'Country', defaultValue: 'AT' }] },
  ),
  reply: UserAttribute,
  errors: ['invalid_default_value', 'attribute_name_taken'],
  scopedKeys: 'refused',
  audit: 'userAttribute',
});

export const updateUserAttribute = operation({
  ...common,
  id: 'updateUserAttribute',
  method: 'PUT',
  path: '/api/v1/user-attributes/{id}',
  summary: 'Change the description or the default of an attribute',
  description:
    'Absent fields stay as they are, and `null` clears a field. The name and the type cannot change.',
  params: one,
  body: Shape('UserAttributeUpdateInput', changeable),
  reply: UserAttribute,
  errors: ['invalid_default_value', 'user_attribute_not_found'],
  scopedKeys: 'refused',
  audit: 'userAttribute',
});

export const deleteUserAttribute = operation({
  ...common,
  id: 'deleteUserAttribute',
  method: 'DELETE',
  path: '/api/v1/user-attributes/{id}',
  summary: 'Delete an attribute and the values that users have for it',
  description: 'Sessions that give a value for it are refused from then on.',
  params: one,
  reply: Nothing,
  errors: ['user_attribute_not_found'],
  scopedKeys: 'refused',
  audit: 'userAttribute',
});
