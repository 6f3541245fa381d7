/** How much a stored field holds, in bytes. The contract names the limits, and constraints of the database keep them. */
import { violatedConstraint } from './db/database.ts';
import { type ApiError, invalid } from './errors.ts';

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
 * A 400 where a constraint such as `reports_meta_max_128_kb` found it: what is stored can be longer than what was sent,
 * because numbers are written out, and letters take more bytes than one.
 */
export function fromSizeConstraint(error: unknown): ApiError | undefined {
  const name = violatedConstraint(error) ?? '';
  const [, column, kb] = SIZE.exec(name.slice((error as { table?: string }).table?.length)) ?? [];
  if (column === undefined) return undefined;
  const path = column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return invalid(path, `is larger than ${shown(Number(kb) * KB)} as it is stored`);
}

const SIZE = /^_(.+)_max_(\d+)_kb$/;
