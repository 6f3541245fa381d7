/** What an audit entry holds of a change: the fields that differ, each of a bounded size. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

type Fields = Record<string, unknown>;

/** Of something that was changed, the fields that differ; all of what was created or deleted. */
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

/** What of a change goes into the audit log, before secrets are masked. Doing it twice changes nothing. */
export function whatIsKept(change: { before: object | null; after: object | null }) {
  const { before, after } = whatDiffers(change);
  return { before: shorten(before), after: shorten(after) };
}

/** A value above the first limit is replaced. Where the fields are too large together, so is one above the second. */
const VALUE_MAX_BYTES = 16 * 1024;
const SMALL_VALUE_MAX_BYTES = 256;
export const FIELDS_MAX_BYTES = 64 * 1024;

/** The fields, with the size and SHA-256 of a large value in its place. */
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
