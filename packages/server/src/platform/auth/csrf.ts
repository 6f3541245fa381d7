/**
 * Protects changes that are authenticated by a cookie, because a browser sends the cookie with the requests of other
 * sites too. Such a request must come from a page of ours, and must contain a token that only our pages know.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../errors.ts';
import type { Keys } from '../secrets/keyring.ts';

/** The field of a form, and the header of a request from a script. */
export const CSRF_FIELD = 'csrf';
export const CSRF_HEADER = 'x-csrf-token';

export interface Csrf {
  /** The token for the forms that a session is shown. */
  tokenOf(sessionId: number): string;
  /** Throws a 403 unless the token belongs to the session. */
  requireToken(sessionId: number, given: unknown): void;
  /** Whether the request comes from a page of this server. */
  isOurs(headers: Pick<IncomingHttpHeaders, 'origin' | 'host'>): boolean;
  /** Throws a 403 unless the request comes from a page of this server. */
  requireOrigin(headers: Pick<IncomingHttpHeaders, 'origin' | 'host'>): void;
  /** For requests that change nothing: throws a 403 if the browser says that another site made the request. */
  refuseOtherSites(headers: Pick<IncomingHttpHeaders, 'sec-fetch-site'>): void;
}

export function createCsrf(keys: Keys, publicUrl: string): Csrf {
  // Parsed when it is needed: commands beside the server have no address.
  const ours = () => new URL(publicUrl);
  // People may use another name of the server than the public one, such as localhost.
  const isOurs: Csrf['isOurs'] = ({ origin, host }) =>
    origin === ours().origin || (host !== undefined && origin === `${ours().protocol}//${host}`);
  const tokenOf = (key: Buffer, sessionId: number) =>
    createHmac('sha256', key).update(`session ${sessionId}`).digest();
  return {
    tokenOf: (sessionId) => tokenOf(keys[0], sessionId).toString('base64url'),
    requireToken(sessionId, text) {
      const given = Buffer.from(typeof text === 'string' ? text : '', 'base64url');
      const isRight = keys.some((key) => {
        const token = tokenOf(key, sessionId);
        return token.length === given.length && timingSafeEqual(token, given);
      });
      if (isRight) return;
      throw new ApiError('forbidden', {
        message: 'The form is out of date, or comes from another site: open the page again.',
      });
    },
    refuseOtherSites({ 'sec-fetch-site': site }) {
      // `none`: the person typed the address. Browsers leave the header out without TLS, except at localhost.
      if (site === undefined || site === 'same-origin' || site === 'none') return;
      throw new ApiError('forbidden', { message: 'A page of another site made this request.' });
    },
    isOurs,
    requireOrigin(headers) {
      if (isOurs(headers)) return;
      throw new ApiError('forbidden', {
        message: `The request does not come from a page at ${ours().origin}. Open that address. If it is not the one that people use, an admin must change the setting ORIEL_PUBLIC_URL.`,
      });
    },
  };
}
