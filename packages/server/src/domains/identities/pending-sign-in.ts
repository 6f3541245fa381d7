/**
 * A sign-in that has begun, kept in a cookie of the browser until the provider sends the person back. So a callback
 * works only in the browser that began it, and callers who are not known store nothing here.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../../platform/errors.ts';
import { readCookie, setCookie } from '../../platform/http/cookies.ts';
import type { Keys } from '../../platform/secrets/keyring.ts';

export interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
  next: string;
  /** A one-time link that the sign-in accepts. */
  link?: string | undefined;
  /** The person wants to sign out at the provider, and not to sign in here. */
  isSignOut?: boolean;
}

export interface PendingCookie {
  /** Both return a value for the header `Set-Cookie`. */
  set(pending: PendingSignIn): string;
  clear(): string;
  /** Returns undefined unless this server made the cookie a short time ago. */
  read(cookieHeader: string | undefined): PendingSignIn | undefined;
}

export const PENDING_SECONDS = 600;

/** The cookie is missing too if the sign-in began at another name of this server, such as localhost. */
export const notBegunAt = (address: string) =>
  new ApiError('sign_in_not_begun', {
    message: `This sign-in began in another browser, at another address or too long ago, or it has ended already. Sign in again at ${address}.`,
  });

export function createPendingCookie(keys: Keys, publicUrl: string): PendingCookie {
  const isSecure = new URL(publicUrl).protocol === 'https:';
  const name = isSecure ? '__Host-oriel-sign-in' : 'oriel-sign-in';
  const signatureOf = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();

  const isSigned = (text: string, signature: string) => {
    const given = Buffer.from(signature, 'base64url');
    return keys.some((key) => {
      const right = signatureOf(key, text);
      return right.length === given.length && timingSafeEqual(right, given);
    });
  };

  return {
    set(pending) {
      const content = { ...pending, endsAt: Date.now() + PENDING_SECONDS * 1000 };
      const text = Buffer.from(JSON.stringify(content)).toString('base64url');
      const value = `${text}.${signatureOf(keys[0], text).toString('base64url')}`;
      return setCookie(name, value, { maxAgeSeconds: PENDING_SECONDS, isSecure });
    },
    clear: () => setCookie(name, '', { maxAgeSeconds: 0, isSecure }),
    read(header) {
      const [text = '', signature = ''] = readCookie(header, name)?.split('.') ?? [];
      if (!isSigned(text, signature)) return undefined;
      const { endsAt, ...pending } = JSON.parse(
        Buffer.from(text, 'base64url').toString(),
      ) as PendingSignIn & {
        endsAt: number;
      };
      return endsAt > Date.now() ? pending : undefined;
    },
  };
}
