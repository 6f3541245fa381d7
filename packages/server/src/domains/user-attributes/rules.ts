import type { AttributeValue } from '@oriel/contract';

export type AttributeType = 'string' | 'number' | 'boolean' | 'string_array' | 'number_array';

/** Describes a value of the type, for messages that say "must be …". */
const WORDS: Record<AttributeType, string> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  string_array: 'an array of texts',
  number_array: 'an array of numbers',
};

export const valueWords = (type: AttributeType) => WORDS[type];
export const defaultWords = (type: AttributeType) =>
  type === 'string' ? WORDS[type] : `${WORDS[type]}, written as JSON`;

/** An empty array fits both kinds of array. */
export function fitsType(type: AttributeType, value: unknown): value is AttributeValue {
  switch (type) {
    case 'string':
      return isText(value);
    case 'number':
      return Number.isFinite(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'string_array':
      return Array.isArray(value) && value.every(isText);
    case 'number_array':
      return Array.isArray(value) && value.every(Number.isFinite);
  }
}

/** Returns the value that the text of a default means, or nothing if it does not fit the type. */
export function parseDefault(type: AttributeType, text: string): AttributeValue | undefined {
  const value = type === 'string' ? text : parseJson(text);
  return fitsType(type, value) ? value : undefined;
}

export const fitsDefault = (type: AttributeType, text: string) => parseDefault(type, text) !== undefined;

/** Returns the user's own value, or the default if they have none. */
export const valueInForce = (
  type: AttributeType,
  value: AttributeValue | null,
  defaultValue: string | null,
): AttributeValue | null =>
  value ?? (defaultValue === null ? null : (parseDefault(type, defaultValue) ?? null));

/** Values are used in queries, and databases cannot store NUL or half a surrogate pair. JSON escapes can contain both. */
const isText = (value: unknown) => typeof value === 'string' && !value.includes('\0') && value.isWellFormed();

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
