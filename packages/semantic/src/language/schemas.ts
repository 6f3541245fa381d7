/**
 * JSON Schema of the language, made beside the readers of the compiler, so that editors complete and check what a build
 * accepts. What needs more than one file, such as references, only the compiler checks.
 */
import type { Json } from '../model.ts';
import { DESCRIPTIONS } from './descriptions.gen.ts';

export type Schema = { readonly [key: string]: Json };

/** A plain number or boolean is a text, too. */
export const TEXT_SCHEMA = { type: ['string', 'number', 'boolean'], minLength: 1 } as const;

const all = new Map<string, Schema>();

/** Keeps a schema under a name, for schemas that hold themselves or are used in several places. */
export function define(name: string, schema: Schema): Schema {
  all.set(name, schema);
  return { $ref: `#/$defs/${name}` };
}

export const definitions = (): Schema => Object.fromEntries(all);

/** `sql_table` becomes `sqlTable`, which the compiler understands as an older word. */
const camelCase = (word: string) => word.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

const inBothCases = (...words: string[]) => [...new Set(words.flatMap((word) => [word, camelCase(word)]))];

export function wordSchema(words: readonly string[], older: readonly string[]): Schema {
  const others = inBothCases(...older, ...words).filter((word) => !words.includes(word));
  return {
    anyOf: [
      ...words.map((word) => ({ const: word })),
      ...(others.length ? [{ enum: others, deprecated: true }] : []),
    ],
  };
}

interface FieldForm {
  readonly read: { readonly schema?: Schema; readonly words?: readonly string[] };
  readonly isNeeded: boolean;
  readonly refusesBlank?: boolean;
}

/** The schema of an object with keys, as the readers know it: `object` of `read.ts`. */
export function definitionOf({
  what,
  fields,
  unused,
  older,
}: {
  what: string;
  fields: Record<string, FieldForm>;
  unused: Record<string, string>;
  older: Record<string, string>;
}): Schema {
  const properties: Record<string, Schema> = {};
  const required: Schema[] = [];
  const olderOf = (key: string) =>
    inBothCases(key, ...Object.keys(older).filter((word) => older[word] === key));
  for (const [key, field] of Object.entries(fields)) {
    const schema = propertySchema(what, key, field);
    properties[key] = schema;
    const others = olderOf(key).filter((word) => !Object.hasOwn(fields, word));
    for (const word of others) {
      properties[word] = { ...schema, deprecated: true, description: `An older word for \`${key}\`.` };
    }
    if (field.isNeeded) required.push(anyKey([key, ...others]));
  }
  for (const [key, reason] of Object.entries(unused))
    for (const word of inBothCases(key)) properties[word] = { deprecated: true, description: reason };
  return define(nameOf(what), {
    type: 'object',
    properties,
    ...(required.length > 0 && { allOf: required }),
    additionalProperties: false,
  });
}

const anyKey = (keys: readonly string[]): Schema =>
  keys.length === 1 ? { required: keys } : { anyOf: keys.map((key) => ({ required: [key] })) };

/** A key with nothing after it counts as missing. */
function propertySchema(what: string, key: string, { read, isNeeded, refusesBlank }: FieldForm): Schema {
  const said = DESCRIPTIONS[what]?.[key];
  const schema = withWords(read.schema ?? {}, said?.words ?? {});
  const canBeBlank = !isNeeded && !refusesBlank;
  return {
    ...(said && { description: said.text }),
    ...(canBeBlank ? { anyOf: [schema, { type: 'null' }] } : schema),
  };
}

/** Says of each word what it does. */
function withWords(schema: Schema, words: Readonly<Record<string, string>>): Schema {
  if (!Array.isArray(schema.anyOf)) return schema;
  const described = schema.anyOf.map((each: Schema) =>
    typeof each.const === 'string' && words[each.const] ? { ...each, description: words[each.const]! } : each,
  );
  return { ...schema, anyOf: described };
}

/** `a filter of a measure` becomes `filter_of_a_measure`. */
const nameOf = (what: string) =>
  what
    .replaceAll('`', '')
    .replace(/^(an?|the) /, '')
    .replace(/[^A-Za-z_]+/g, '_');
