/** What a request may say about an external user: shared by sessions and by recipients of notifications. */
import { Type } from 'typebox';
import { GivenValue } from './attributes.ts';
import { Maybe, Shape } from './schemas.ts';

export const LIST_MAX = 1000;
export const reference = Type.String({ minLength: 1, maxLength: 255 });

export const names = (description: string) =>
  Maybe(Type.Array(reference, { maxItems: LIST_MAX, description }));

export const UserAttributeInputs = Type.Array(
  Shape('UserAttributeInput', { name: reference, value: Type.Optional(GivenValue) }),
  {
    maxItems: LIST_MAX,
    description: 'Values for row-level security; stored values of other attributes stay',
  },
);

export const SecurityContext = Type.Object(
  {},
  { additionalProperties: true, description: 'Available to queries; up to 64 KB of JSON' },
);
