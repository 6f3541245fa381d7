/** Requests that every operation of the contract understands. */
import { hasBody, type Operation } from '@oriel/contract';
import { Type } from 'typebox';

/** An address of the operation with something plausible for each parameter that is needed and not given. */
export function addressOf(op: Operation, given: Record<string, number> = {}) {
  const path = op.path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const isId = (op.params[name] as { type?: string }).type === 'integer';
    return String(given[name] ?? (isId ? 1 : 'something000'));
  });
  const query = new URLSearchParams(sample(Type.Object(op.query) as JsonSchema) as Record<string, string>);
  return query.size ? `${path}?${query}` : path;
}

/** The least that the schema of the body takes. */
export function validBody(op: Operation): object {
  return hasBody(op) ? (sample(op.body as unknown as JsonSchema) as object) : {};
}

interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
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
      return schema.format === 'email' ? 'sample@example.com' : 'sample'.padEnd(schema.minLength ?? 0, 'x');
  }
}
