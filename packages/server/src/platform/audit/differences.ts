/** Computes what an audit entry holds of a change: the fields that differ, each limited in size, without secrets. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { maskFields, maskSecrets } from './mask.ts';

type Fields = Record<string, unknown>;

interface States {
  before: object | null;
  after: object | null;
}

/** What the audit log holds of a change. */
export interface AuditedChange extends States {
  isKept: true;
}

export function whatIsKept(change: States): AuditedChange {
  const { before, after } = whatDiffers(change);
  return { before: withinLimits(before), after: withinLimits(after), isKept: true };
}

/** Returns the fields that differ if a resource was changed, and all fields if it was created or deleted. */
export function whatDiffers({ before, after }: States): States {
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
 * A value larger than the first limit is replaced. If all fields together are too large, every value larger than the
 * second limit is replaced, and if that is not enough, all of them.
 */
const VALUE_MAX_BYTES = 4 * 1024;
const SMALL_VALUE_MAX_BYTES = 256;
export const FIELDS_MAX_BYTES = 64 * 1024;

/**
 * Returns the fields. A large value is replaced by its size and SHA-256, before the rest is searched for secrets: so
 * what an entry costs has a limit, and no secret is cut in two.
 */
export function withinLimits(fields: object | null): object | null {
  if (fields === null) return null;
  const sized = Object.entries(fields).flatMap(([name, value]) => {
    const bytes = bytesOf(value);
    return bytes === undefined ? [] : [{ name, value: value as unknown, bytes }];
  });
  const totalWith = (max: number) =>
    sized.reduce(
      (sum, { name, bytes }) => sum + Buffer.byteLength(name) + (bytes > max ? DIGEST_BYTES : bytes),
      0,
    );
  const max = [VALUE_MAX_BYTES, SMALL_VALUE_MAX_BYTES].find((limit) => totalWith(limit) <= FIELDS_MAX_BYTES);
  if (max === undefined) return digestOf(fields);
  const kept = sized.map(({ name, value, bytes }) => [name, bytes > max ? digestOf(value) : value]);
  return maskSecrets(Object.fromEntries(kept));
}

function bytesOf(value: unknown): number | undefined {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : Buffer.byteLength(text);
}

const DIGEST_BYTES = 100;

/** The hash leaves out secret fields: a reader who knows all other fields could check guesses of them against it. */
const digestOf = (value: unknown) => ({
  bytes: bytesOf(value),
  sha256: createHash('sha256').update(JSON.stringify(value, maskFields)).digest('hex'),
});
