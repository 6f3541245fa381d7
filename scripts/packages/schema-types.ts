/** Writes schemas, in the form that `createHoist` gives them, as TypeScript. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
  not?: Schema;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  description?: string;
  deprecated?: boolean;
}

/** The name of the type of an object whose schema says nothing about its fields. */
export const FREE_OBJECT = 'FreeObject';

/** The name of the component that a schema refers to. */
export const nameOf = ($ref: string) => $ref.split('/').pop()!;

export function typeOf(schema: Schema): string {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.anyOf) return union(schema.anyOf.map(typeOf));
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.not) return 'never';
  if (schema.type === undefined) return 'unknown';
  return union([schema.type].flat().map((type) => ofType(type, schema)));
}

const union = (types: string[]) => [...new Set(types)].join(' | ');

const PLAIN: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  void: 'undefined',
};

function ofType(type: string, schema: Schema): string {
  if (type === 'array') return arrayType(schema.items ?? {});
  if (type === 'object') return objectType(schema);
  const plain = PLAIN[type];
  if (!plain) throw new Error(`no type is known for ${JSON.stringify(schema)}`);
  return plain;
}

/** An array whose items may have several types holds items of one of them. */
const arrayType = (items: Schema): string =>
  Array.isArray(items.type) && !items.type.includes('null') && !items.enum
    ? union(items.type.map((type) => `Array<${ofType(type, items)}>`))
    : `Array<${typeOf(items)}>`;

export function objectType({ properties, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties ?? {}).map(
    ([name, schema]) =>
      `${comment(schema)}${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};`,
  );
  const isOpen = additionalProperties ?? !properties;
  const others = typeof isOpen === 'object' ? typeOf(isOpen) : isOpen ? 'unknown' : undefined;
  if (additionalProperties === true && properties && !fields.length) return FREE_OBJECT;
  if (others && !fields.length) return `Record<string, ${others}>`;
  if (others) fields.push('[name: string]: unknown;');
  return fields.length ? `{\n${indent(fields.join('\n'))}\n}` : 'Record<string, never>';
}

export const key = (name: string) => (/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name));

export const indent = (text: string) => text.replaceAll(/^(?=.)/gm, '  ');

/** The words of a schema, for editors. */
export function comment({ description, deprecated }: { description?: string; deprecated?: boolean }): string {
  const lines = [...(description?.split('\n') ?? []), ...(deprecated ? ['@deprecated'] : [])].map((line) =>
    line.replaceAll('*/', '* /').trimEnd(),
  );
  if (!lines.length) return '';
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

/** A type by its name. */
export function declaration(name: string, schema: Schema): string {
  const type = typeOf(schema);
  const text =
    type.startsWith('{\n') && schema.type === 'object'
      ? `interface ${name} ${type}`
      : `type ${name} = ${type};`;
  return `${comment(schema)}export ${text}\n`;
}
