/**
 * A session id has three parts: the number of the session, which needs no index of secrets to find the row; a secret;
 * and a check that only the servers can compute. The check recognises made-up ids without asking the database.
 */
import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Keys } from '../../platform/secrets/keyring.ts';

const SECRET_BYTES = 24;
/** How many bytes of the HMAC are used. It is a multiple of three, so that base64 has only one way to write them. */
const CHECK_BYTES = 18;
const PATTERN = /^([1-9]\d{0,14})\.([\w-]{32})([\w-]{24})$/;

export interface SessionIds {
  format(id: number, secret: string): string;
  /** Returns undefined if the text is not a session id that these servers minted. */
  parse(text: string): { id: number; secret: string } | undefined;
}

export const newSecret = () => randomBytes(SECRET_BYTES).toString('base64url');

export const hashSecret = (secret: string) => hash('sha256', secret, 'buffer');

export function createSessionIds(keys: Keys): SessionIds {
  const checkOf = (key: Buffer, id: number | string, secret: string) =>
    createHmac('sha256', key).update(`${id}.${secret}`).digest().subarray(0, CHECK_BYTES);
  return {
    format: (id, secret) => `${id}.${secret}${checkOf(keys[0], id, secret).toString('base64url')}`,
    parse(text) {
      const [, id, secret, check] = PATTERN.exec(text) ?? [];
      if (!id || !secret || !check) return undefined;
      const given = Buffer.from(check, 'base64url');
      if (!keys.some((key) => timingSafeEqual(given, checkOf(key, id, secret)))) return undefined;
      return { id: Number(id), secret };
    },
  };
}
