/** How much a stored field holds, in bytes. The contract names the limits, and constraints of the database keep them. */
import { invalid } from './errors.ts';

const KB = 1024;

const shown = (bytes: number) => (bytes % (KB * KB) === 0 ? `${bytes / KB / KB} MB` : `${bytes / KB} KB`);

/** A text counts as it stands, anything else as JSON. */
const bytesOf = (value: unknown) =>
  Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));

/** A 400 where the value is too large. Before the database is bothered with it. */
export function requireBytes(path: string, value: unknown, maxBytes: number) {
  if (value != null && bytesOf(value) > maxBytes) throw invalid(path, `is larger than ${shown(maxBytes)}`);
}

/**
 * For `refusing`: a 400 where a constraint found the field too large. What is stored can be longer than what was sent,
 * because numbers are written out, and letters take more bytes than one.
 */
export const tooLarge = (path: string, kb: number) => () =>
  invalid(path, `is larger than ${shown(kb * KB)} as it is stored`);
