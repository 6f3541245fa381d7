/** Turns schemas into their OpenAPI form: each schema with a title becomes a component that is referred to by name. */
import type { TSchema } from 'typebox';
import { describeField } from './descriptions/index.ts';

export type Json = Record<string, unknown>;

/** Keywords whose value is a schema or a list of schemas. Values of others are data, even if they look like schemas. */
const HOLD_SCHEMAS = new Set(['items', 'additionalProperties', 'anyOf', 'allOf', 'oneOf', 'not']);
/** Keywords whose value is an object of schemas with freely chosen names. */
const HOLD_NAMED_SCHEMAS = new Set(['properties', 'patternProperties']);

const SAME = 'The same as ';

/**
 * Any object, which the document describes as the component with this title. For a schema that holds itself: the
 * validator and the serialiser would have to know it by a name.
 */
export const sameAs = (title: string) => ({
  type: 'object',
  additionalProperties: true,
  $comment: SAME + title,
});

const described = new Map<string, TSchema>();

/**
 * Any object, which the document describes as this schema. For what is checked elsewhere, in words that a validator does
 * not have. The title is the schema's own.
 */
export function describedAs(title: string, schema: TSchema) {
  described.set(title, schema);
  return sameAs(title);
}

export interface Hoist {
  (schema: TSchema): Json;
  components: Record<string, Json>;
}

export function createHoist(): Hoist {
  const components: Record<string, Json> = {};
  // A schema that holds itself is described once.
  const begun = new Set<string>();

  const hoist = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(hoist);
    if (typeof schema !== 'object' || schema === null) return schema;
    const { title, $comment, ...rest } = schema as Json;
    if (typeof $comment === 'string' && $comment.startsWith(SAME)) {
      const same = $comment.slice(SAME.length);
      const found = begun.has(same) ? undefined : described.get(same);
      begun.add(same);
      if (found) hoist(found);
      return { $ref: `#/components/schemas/${same}` };
    }
    return typeof title === 'string' ? refer(title, rest) : hoistBelow(rest);
  };

  const hoistBelow = (schema: Json): Json => mapEntries(schema, hoistKeyword);

  const hoistKeyword = (keyword: string, value: unknown) => {
    if (HOLD_SCHEMAS.has(keyword)) return hoist(value);
    if (HOLD_NAMED_SCHEMAS.has(keyword)) return mapEntries(value as Json, (_, named) => hoist(named));
    return value;
  };

  const refer = (title: string, schema: Json): Json => {
    const nullable = Array.isArray(schema.type) || (Array.isArray(schema.enum) && schema.enum.includes(null));
    if (Array.isArray(schema.type)) schema.type = schema.type.find((type) => type !== 'null');
    if (Array.isArray(schema.enum)) schema.enum = schema.enum.filter((value) => value !== null);
    const component = withWords(title, hoistBelow(schema));
    components[title] ??= component;
    if (JSON.stringify(components[title]) !== JSON.stringify(component)) {
      throw new Error(`two different schemas have the title ${title}`);
    }
    const reference = { $ref: `#/components/schemas/${title}` };
    return nullable ? { anyOf: [reference, { type: 'null' }] } : reference;
  };

  const withWords = (title: string, component: Json): Json => {
    if (!component.properties) return component;
    const properties = mapEntries(component.properties as Json, (name, field) => {
      const { description, ...rest } = field as Json;
      const words = describeField(title, name, description);
      return words === undefined ? rest : { ...rest, description: words };
    });
    return { ...component, properties };
  };

  return Object.assign((schema: TSchema) => hoist(schema) as Json, { components });
}

const mapEntries = (record: Json, map: (key: string, value: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(key, value)]));
