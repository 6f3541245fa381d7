import { invalid } from '../errors.ts';

export const FREE_JSON_MAX_BYTES = 64 * 1024;

/** What is stored with a row is bounded, so that no page of a list and no cache grows without end. */
export function requireJsonSize(path: string, value: unknown, maxBytes = FREE_JSON_MAX_BYTES) {
  if (value == null || Buffer.byteLength(JSON.stringify(value)) <= maxBytes) return;
  throw invalid(path, `must not be larger than ${maxBytes / 1024} KB`);
}
