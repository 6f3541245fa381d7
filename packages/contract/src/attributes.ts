/** Schemas that the operations on user attributes share. */
import { Type } from 'typebox';

export const UserAttributeType = Type.Enum(['string', 'number', 'boolean', 'string_array', 'number_array'], {
  title: 'UserAttributeType',
});

export type AttributeValue = string | number | boolean | string[] | number[];

/** Any JSON. The handler checks the value against the type of its attribute, because only the handler knows that type. */
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

/** Text with at most as many characters as an attribute may hold. */
export const DefaultValue = Type.String({
  maxLength: 10_000,
  description: 'Plain text for a `string`; JSON for the other types, such as `3` or `["EU","US"]`',
});

/** The values that a session request can hold. The handler checks each one against the type of its attribute. */
export const GivenValue = Type.Unsafe<AttributeValue | null>({
  type: ['string', 'number', 'boolean', 'array', 'null'],
  maxLength: 10_000,
  maxItems: 1000,
  items: { type: ['string', 'number'], maxLength: 1000 },
  description: 'Must fit the type of the attribute; null clears the value',
});

/** Replies list the types as alternatives: with a list of types, the serialiser uses the first and flattens arrays. */
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
