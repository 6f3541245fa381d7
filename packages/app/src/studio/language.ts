/** What the modelling language allows at a place, from the schema that the server publishes. */
import type { YamlPlace } from './yaml-place.ts';

export interface JsonSchema {
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  type?: string | string[];
  const?: string;
  description?: string;
  deprecated?: boolean;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
}

export interface Suggestion {
  label: string;
  /** What is written for it. */
  text: string;
  detail?: string | undefined;
  info?: string | undefined;
}

/** The schemas that a value may have: references are followed, and choices taken apart. */
function variants(root: JsonSchema, schema: JsonSchema | undefined): JsonSchema[] {
  if (!schema) return [];
  if (schema.$ref) return variants(root, root.$defs?.[schema.$ref.replace('#/$defs/', '')]);
  if (schema.anyOf)
    return [...schema.anyOf.flatMap((one) => variants(root, one)), ...(schema.properties ? [schema] : [])];
  return [schema];
}

function schemasAt(root: JsonSchema, path: readonly string[]): JsonSchema[] {
  let found = variants(root, root);
  for (const part of path)
    found = found.flatMap((schema) =>
      variants(root, part === '[]' ? schema.items : schema.properties?.[part]),
    );
  return found;
}

/** The keys that can be written at a place. */
export function keysAt(root: JsonSchema, path: readonly string[]): Suggestion[] {
  const offered = schemasAt(root, path).flatMap(({ properties = {} }) =>
    Object.entries(properties)
      .filter(([, { deprecated }]) => !deprecated)
      .map(([key, schema]) => ({
        label: key,
        text: `${key}:${textAfter(variants(root, schema))}`,
        info: schema.description,
      })),
  );
  return offered.filter(({ label }, i) => offered.findIndex((one) => one.label === label) === i);
}

/** A list or an object begins in the next line. */
const textAfter = (schemas: readonly JsonSchema[]) =>
  schemas.every(({ type }) => type === 'array' || type === 'object' || type === 'null') ? '' : ' ';

/** The words that a key takes. */
export function wordsAt(root: JsonSchema, path: readonly string[], key: string): Suggestion[] {
  return schemasAt(root, [...path, key]).flatMap((schema): Suggestion[] => {
    if (schema.const !== undefined)
      return [
        { label: schema.const, text: schema.const === '*' ? '"*"' : schema.const, info: schema.description },
      ];
    return schema.type === 'boolean' ? ['true', 'false'].map((text) => ({ label: text, text })) : [];
  });
}

/** What a key, or one of its words, does. */
export function describe(root: JsonSchema, { path, key }: Pick<YamlPlace, 'path' | 'key'>, word: string) {
  const inPlace = schemasAt(root, path).map(({ properties }) => properties?.[word]?.description);
  const asWord =
    key === undefined
      ? []
      : wordsAt(root, path, key).map(({ label, info }) => (label === word ? info : undefined));
  return [...asWord, ...inPlace].find((text) => text !== undefined);
}
