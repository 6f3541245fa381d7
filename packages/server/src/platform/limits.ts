/**
 * Limits on the size of stored fields, in bytes. The contract names the limits, and constraints of the database enforce
 * them.
 */
import { invalid } from './errors.ts';

const KB = 1024;

const shown = (bytes: number) => (bytes % (KB * KB) === 0 ? `${bytes / KB / KB} MB` : `${bytes / KB} KB`);

/** Text is measured as it is, and every other value as JSON. */
const bytesOf = (value: unknown) =>
  Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));

/** Throws a 400 if the value is too large, before it is sent to the database. */
export function requireBytes(path: string, value: unknown, maxBytes: number) {
  if (value != null && bytesOf(value) > maxBytes) throw invalid(path, `is larger than ${shown(maxBytes)}`);
}

/**
 * For `refusing`: makes a 400 if a constraint found the field too large. The stored value can be longer than the value
 * that was sent, because numbers are written in full, and a letter may take several bytes.
 */
export const tooLarge = (path: string, kb: number) => () =>
  invalid(path, `is larger than ${shown(kb * KB)} as it is stored`);
