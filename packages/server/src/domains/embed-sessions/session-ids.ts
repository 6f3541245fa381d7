/**
 * A session id is the number of the session, so that it is found without an index of secrets, a secret, and a check
 * that only the servers can compute: what somebody made up is told from what was minted without asking the database.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 24;
/** Of the HMAC; a multiple of three, so that base64 writes it in one way. */
const CHECK_BYTES = 18;
const PATTERN = /^([1-9]\d{0,14})\.([\w-]{32})([\w-]{24})$/;

export interface SessionIds {
  format(id: number, secret: string): string;
  /** Nothing where the text is no session id that was minted here. */
  parse(text: string): { id: number; secret: string } | undefined;
}

export const newSecret = () => randomBytes(SECRET_BYTES).toString('base64url');

export const hashSecret = (secret: string) => createHash('sha256').update(secret).digest();

export function createSessionIds(key: Buffer): SessionIds {
  const checkOf = (id: number | string, secret: string) =>
    createHmac('sha256', key).update(`${id}.${secret}`).digest().subarray(0, CHECK_BYTES);
  return {
    format: (id, secret) => `${id}.${secret}${checkOf(id, secret).toString('base64url')}`,
    parse(text) {
      const [, id, secret, check] = PATTERN.exec(text) ?? [];
      if (!id || !secret || !check) return undefined;
      if (!timingSafeEqual(Buffer.from(check, 'base64url'), checkOf(id, secret))) return undefined;
      return { id: Number(id), secret };
    },
  };
}
