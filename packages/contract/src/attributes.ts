/** What operations on attributes of users have in common. */
import { Type } from 'typebox';

export const UserAttributeType = Type.Enum(['string', 'number', 'boolean', 'string_array', 'number_array'], {
  title: 'UserAttributeType',
});

export type AttributeValue = string | number | boolean | string[] | number[];

/** Any JSON: whether a value fits is told by the type of its attribute, which only the handler knows. */
export const AnyValue = Type.Unsafe<AttributeValue | null>({
  type: ['array', 'boolean', 'null', 'number', 'object', 'string'],
  maxLength: 10_000,
  maxItems: 1000,
  items: {
    type: ['array', 'boolean', 'null', 'number', 'object', 'string'],
    maxLength: 1000,
    items: {},
  },
});

/** Text of as many characters as an attribute takes. */
export const DefaultValue = Type.String({
  maxLength: 10_000,
  description: 'As it stands for a `string`; JSON for the other types, such as `3` or `["EU","US"]`',
});

/** What a session request can give. Whether a value fits is told by its attribute. */
export const GivenValue = Type.Unsafe<AttributeValue | null>({
  type: ['string', 'number', 'boolean', 'array', 'null'],
  maxLength: 10_000,
  maxItems: 1000,
  items: { type: ['string', 'number'], maxLength: 1000 },
  description: 'Must fit the type of the attribute; null clears the value',
});

/** In replies: as alternatives, because the serialiser takes the first of a list of types and would flatten arrays. */
export const ShownValue = Type.Unsafe<AttributeValue | null>({
  anyOf: [
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'array', items: { type: 'string' } },
    { type: 'array', items: { type: 'number' } },
    { type: 'null' },
  ],
});
