/**
 * Names for everything in a statement. No name of its author gets into the SQL that runs, so none can stand for a table
 * or a column of the data source; and the names that are made here are in no text of the model.
 */
import type { Model } from '../model.ts';

/** Models do not change. */
const known = new WeakMap<Model, string>();

export function prefixFor(model: Model): string {
  let prefix = known.get(model);
  if (prefix !== undefined) return prefix;
  prefix = 'oriel';
  while (mentions(model, prefix)) prefix += '_';
  known.set(model, prefix);
  return prefix;
}

function mentions(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(text);
  if (typeof value !== 'object' || value === null) return false;
  const parts = value instanceof Map ? [...value.keys(), ...value.values()] : Object.values(value as object);
  return parts.some((part) => mentions(part, text));
}
