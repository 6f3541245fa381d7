import { Type } from 'typebox';
import { AnyValue, ShownValue, UserAttributeType } from '../attributes.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { operation } from '../operation.ts';
import { Id, Maybe, matching, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'User Attribute Values': 'The values that single users have for attributes.',
} satisfies TagDefinitions;

export const errors = {
  attribute_value_mismatch: { status: 400, message: 'The value does not fit the type of the attribute.' },
} as const satisfies ErrorDefinitions;

const UserAttributeValue = Shape('UserAttributeValue', {
  userId: Id,
  userAttributeId: Id,
  name: Type.String(),
  type: UserAttributeType,
  displayName: Maybe(Type.String()),
  description: Maybe(Type.String()),
  value: Type.Optional({
    ...ShownValue,
    description: 'The value that the user was given; null if there is none',
  }),
  formattedValue: Type.Optional({
    ...ShownValue,
    description: 'The value that is used: the value of the user, or the default, or null',
  }),
});

/** Clients of this operation send ids as text. */
const IdOrText = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  minLength: 1,
  ...matching('^[1-9][0-9]{0,15}$', 'must be an id: a whole number from 1, also as text'),
  examples: ['1'],
});

const common = { tag: 'User Attribute Values', auth: 'management', permission: 'All' } as const;

export const getUserAttributeValues = operation({
  ...common,
  id: 'getUserAttributeValues',
  method: 'GET',
  path: '/api/v1/user-attribute-values/{userId}',
  trailingSlash: true,
  summary: 'List the tenant-wide attributes with the values of a user',
  description:
    'Lists every attribute in the order of their ids, including those for which the user has no value.',
  params: { userId: Id },
  reply: Type.Array(UserAttributeValue),
  errors: ['user_not_found'],
  scopedKeys: 'allowed',
  audit: 'none',
});

export const upsertUserAttributeValue = operation({
  ...common,
  id: 'upsertUserAttributeValue',
  method: 'POST',
  path: '/api/v1/user-attribute-values',
  trailingSlash: true,
  summary: "Set or remove a user's value of an attribute",
  description:
    'For users of the account and external users. If `value` is `null` or absent, the value is removed.',
  body: Shape(
    'UserAttributeValueCreateInput',
    {
      userAttributeId: IdOrText,
      userId: IdOrText,
      value: Type.Optional(AnyValue),
    },
    { examples: [{ userAttributeId: '1', userId: '1', value: 'EU' }] },
  ),
  bodyLimitBytes: 4 * 1024 * 1024,
  reply: UserAttributeValue,
  errors: ['attribute_value_mismatch', 'user_attribute_not_found', 'user_not_found'],
  scopedKeys: 'refused',
  audit: 'userAttributeValue',
});
