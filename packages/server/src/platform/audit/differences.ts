/** Computes what an audit entry holds of a change: the fields that differ, each limited in size. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

type Fields = Record<string, unknown>;

/** Returns the fields that differ if a resource was changed, and all fields if it was created or deleted. */
export function whatDiffers({ before, after }: { before: object | null; after: object | null }) {
  if (before === null || after === null) return { before, after };
  const [old, fresh] = [before as Fields, after as Fields];
  const names = Object.keys({ ...old, ...fresh }).filter(
    (name) => !isDeepStrictEqual(old[name], fresh[name]),
  );
  const only = (fields: Fields) =>
    Object.fromEntries(names.filter((name) => name in fields).map((name) => [name, fields[name]]));
  return { before: only(old), after: only(fresh) };
}

/**
 * Returns the part of a change that goes into the audit log, before secrets are masked. Applying it twice gives the
 * same result.
 */
export function whatIsKept(change: { before: object | null; after: object | null }) {
  const { before, after } = whatDiffers(change);
  return { before: shorten(before), after: shorten(after) };
}

/**
 * A value larger than the first limit is replaced. If all fields together are too large, every value larger than the
 * second limit is replaced.
 */
const VALUE_MAX_BYTES = 16 * 1024;
const SMALL_VALUE_MAX_BYTES = 256;
export const FIELDS_MAX_BYTES = 64 * 1024;

/** Returns the fields. A large value is replaced by its size and SHA-256. */
export function shorten(fields: object | null): object | null {
  if (fields === null) return null;
  const texts = Object.entries(fields).flatMap(([name, value]) => {
    const text = JSON.stringify(value);
    return text === undefined
      ? []
      : [{ name, value: value as unknown, text, bytes: Buffer.byteLength(text) }];
  });
  const total = texts.reduce((sum, { bytes }) => sum + (bytes > VALUE_MAX_BYTES ? 0 : bytes), 0);
  const max = total > FIELDS_MAX_BYTES ? SMALL_VALUE_MAX_BYTES : VALUE_MAX_BYTES;
  return Object.fromEntries(
    texts.map(({ name, value, text, bytes }) => [
      name,
      bytes > max ? { bytes, sha256: createHash('sha256').update(text).digest('hex') } : value,
    ]),
  );
}
