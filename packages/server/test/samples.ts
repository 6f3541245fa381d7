/** Makes valid requests for every operation of the contract. */
import { bodyKindOf, bodyTypesOf, type Operation } from '@oriel/contract';
import { type TSchema, Type } from 'typebox';

/** An address of the operation, with a valid value for each required parameter that is not given. */
export function addressOf(op: Operation, given: Record<string, number> = {}) {
  const path = op.path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    return String(given[name] ?? (isIdIn(op, name) ? 1 : textIn(op, name)));
  });
  const query = new URLSearchParams(sample(Type.Object(op.query) as JsonSchema) as Record<string, string>);
  return query.size ? `${path}?${query}` : path;
}

export const isIdIn = (op: Operation, name: string) =>
  (op.params[name] as { type?: string }).type === 'integer';

/** A text that the parameter of the path may have, such as a hash of 40 digits. */
export const textIn = (op: Operation, name: string) =>
  'something000'.padEnd((op.params[name] as { minLength?: number }).minLength ?? 0, '0');

/** Returns the schema of the fields of the body, or nothing if there is none. */
export function bodySchemaOf(op: Operation): TSchema | undefined {
  const body = bodyKindOf(op);
  return body && 'schema' in body ? body.schema : undefined;
}

/** The smallest body that the schema accepts. */
export function validBody(op: Operation): object {
  const schema = bodySchemaOf(op);
  return schema ? (sample(schema as JsonSchema) as object) : {};
}

/** Headers and body of a request to the operation, for every kind of body. */
export function requestOf(op: Operation, fields: unknown = validBody(op)) {
  const headers = sample(Type.Object(op.headers) as JsonSchema) as Record<string, string>;
  const body = bodyKindOf(op);
  const as = (type: string) => ({ ...headers, 'content-type': type });
  switch (body?.kind) {
    case undefined:
      return { headers };
    case 'form':
      return {
        headers: as('application/x-www-form-urlencoded'),
        body: new URLSearchParams(fields as Record<string, string>).toString(),
      };
    case 'multipart': {
      const data = new FormData();
      const { files } = body;
      const given = fields as Record<string, unknown>;
      for (const [name, value] of Object.entries(given))
        if (!(name in files)) data.append(name, String(value));
      for (const [name, { contentTypes = ['text/plain'] }] of Object.entries(files)) {
        data.append(name, new Blob([String(given[name] ?? 'sample')], { type: contentTypes[0] }), 'sample');
      }
      return { headers, body: data };
    }
    case 'bytes':
      return { headers: as(bodyTypesOf(body)[0]!), body: 'sample' };
    default:
      return {
        headers: as('application/json'),
        body: typeof fields === 'string' ? fields : JSON.stringify(fields),
      };
  }
}

interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: JsonSchema[];
  format?: string;
  minLength?: number;
  minimum?: number;
  minItems?: number;
  items?: JsonSchema;
  required?: string[];
  properties?: Record<string, JsonSchema>;
}

function sample(schema: JsonSchema): unknown {
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return sample(schema.anyOf[0]!);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sample(schema.properties![name]!)]),
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items!));
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      if (schema.format === 'date-time') return '2026-01-31T09:30:00.000Z';
      if (schema.format === 'uri') return 'https://example.com/sample';
      return schema.format === 'email' ? 'sample@example.com' : 'sample'.padEnd(schema.minLength ?? 0, 'x');
  }
}
