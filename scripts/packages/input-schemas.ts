/**
 * What requests may leave out may also be `undefined`, so that a strict program can pass on what may be missing. Replies
 * keep their exact types, except for what requests hold too.
 */
import { nameOf, type Schema } from './schema-types.ts';

const UNDEFINED: Schema = { type: 'void' };

export function createInputs(components: Record<string, Schema>) {
  const names = new Set<string>();

  function given(schema: Schema): Schema {
    const { $ref, anyOf, items, properties, required = [], additionalProperties } = schema;
    if ($ref) names.add(nameOf($ref));
    const fields = Object.entries(properties ?? {}).map(([name, field]) => [
      name,
      required.includes(name) ? given(field) : orUndefined(given(field)),
    ]);
    return {
      ...schema,
      ...(anyOf && { anyOf: anyOf.map(given) }),
      ...(items && { items: given(items) }),
      ...(properties && { properties: Object.fromEntries(fields) }),
      ...(typeof additionalProperties === 'object' && { additionalProperties: given(additionalProperties) }),
    };
  }

  return {
    /** The schema as a request gives it. */
    given,
    /** Every component, with those that a request holds as requests give them. */
    components(): Record<string, Schema> {
      const all = { ...components };
      // A component can add others, which the loop then reaches.
      for (const name of names) all[name] = given(components[name]!);
      return all;
    },
  };
}

const orUndefined = (schema: Schema): Schema => {
  const { description, deprecated } = schema;
  return {
    anyOf: [schema, UNDEFINED],
    ...(description !== undefined && { description }),
    ...(deprecated !== undefined && { deprecated }),
  };
};
