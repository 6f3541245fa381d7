/**
 * Ids that are secrets. An id has three parts: the number of a row, which needs no index of secrets to find the row; a
 * random secret; and a check that only the servers can compute. The check recognises made-up ids without asking the
 * database.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Keys } from './keyring.ts';

/** How many bytes of the HMAC are used. It is a multiple of three, so that base64 has only one way to write them. */
const CHECK_BYTES = 18;
const base64Length = (bytes: number) => (bytes / 3) * 4;

export interface CheckedIds {
  newSecret(): string;
  format(id: number, secret: string): string;
  /** Returns undefined if the text is not an id that these servers made. */
  parse(text: string): { id: number; secret: string } | undefined;
}

/** `secretBytes` is a multiple of three, for the same reason. */
export function createCheckedIds(keys: Keys, { secretBytes }: { secretBytes: number }): CheckedIds {
  const pattern = new RegExp(
    `^([1-9]\\d{0,14})\\.([\\w-]{${base64Length(secretBytes)}})([\\w-]{${base64Length(CHECK_BYTES)}})$`,
  );
  const checkOf = (key: Buffer, id: number | string, secret: string) =>
    createHmac('sha256', key).update(`${id}.${secret}`).digest().subarray(0, CHECK_BYTES);
  return {
    newSecret: () => randomBytes(secretBytes).toString('base64url'),
    format: (id, secret) => `${id}.${secret}${checkOf(keys[0], id, secret).toString('base64url')}`,
    parse(text) {
      const [, id, secret, check] = pattern.exec(text) ?? [];
      if (!id || !secret || !check) return undefined;
      const given = Buffer.from(check, 'base64url');
      if (!keys.some((key) => timingSafeEqual(given, checkOf(key, id, secret)))) return undefined;
      return { id: Number(id), secret };
    },
  };
}
