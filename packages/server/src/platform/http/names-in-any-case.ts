/** Gives the keys of a body the letter case of its schema, for protocols that ignore the case of names. */
import type { TSchema } from 'typebox';
import { ApiError } from '../errors.ts';

type JsonObject = Readonly<Record<string, unknown>>;
type Renamer = (value: unknown) => unknown;

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
}

/** Takes time that grows only with the length of the body, whose depth and number of values are limited. */
export const namesInAnyCase = (schema: TSchema): Renamer =>
  renamerOf(schema as JsonSchema) ?? ((value) => value);

/** Returns nothing if the schema names nothing: then the value stays as it is. */
function renamerOf({ properties = {}, items }: JsonSchema): Renamer | undefined {
  if (items) {
    const rename = renamerOf(items);
    return rename && ((value) => (Array.isArray(value) ? value.map(rename) : value));
  }
  // A map, because every object has some properties that are not its own.
  const known = new Map(
    Object.entries(properties).map(([name, schema]) => [
      name.toLowerCase(),
      { name, rename: renamerOf(schema) ?? ((value: unknown) => value) },
    ]),
  );
  if (known.size === 0) return undefined;
  return (value) => {
    if (!isObject(value)) return value;
    const entries = byLowerName(value).map(([lower, name, part]) => {
      const property = known.get(lower);
      return property ? [property.name, property.rename(part)] : [name, part];
    });
    return Object.fromEntries(entries);
  };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The entries of an object, each with its name in lower case. Two names that differ only in case are a 400. */
export function byLowerName(value: JsonObject): [lower: string, name: string, part: unknown][] {
  const names = new Set<string>();
  return Object.entries(value).map(([name, part]) => {
    const lower = name.toLowerCase();
    // With a letter before it, because JavaScript engines hash texts that look like numbers predictably.
    if (names.has(`n${lower}`)) throw twice(name);
    names.add(`n${lower}`);
    return [lower, name, part];
  });
}

const twice = (name: string) =>
  new ApiError('duplicate_key', {
    message: `The body has \`${name.slice(0, 100).toWellFormed()}\` twice in one object: the case of letters does not matter.`,
  });
