import { Type } from 'typebox';
import { AnyValue, ShownValue, UserAttributeType } from '../attributes.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { operation } from '../operation.ts';
import { Id, Maybe, matching, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'User Attribute Values': 'What single users have as the values of attributes.',
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
  value: Type.Optional({ ...ShownValue, description: 'What the user was given; null where nothing' }),
  formattedValue: Type.Optional({
    ...ShownValue,
    description: 'What counts: the value, else the default, else null',
  }),
});

/** Clients of this operation write ids as text. */
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
  summary: 'List the tenant-wide attributes with the values of a user',
  description:
    'Every attribute is there, in the order of their ids, also those that the user has no value of.',
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
  summary: 'Give a user the value of an attribute, or take it away',
  description: 'For people and for external users. `null`, or no `value`, takes the value away.',
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
