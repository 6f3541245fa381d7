/**
 * Finds out who the caller is: reads the credential of the request, and lets the kind of credential that accepts it
 * verify it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Auth } from '@oriel/contract';
import { type Actor, NOBODY } from './actor.ts';
import { unauthenticated } from './credential-hints.ts';
import { type CredentialKind, kindOf, type Presented, requireDistinct } from './credentials.ts';

export interface Authenticator {
  /**
   * Returns at once if the credential is known, and otherwise asks the database. Throws or rejects with a 401, or with
   * a 429 after too many wrong credentials.
   */
  authenticate(request: ShowingRequest, auth: Auth): Actor | Promise<Actor>;
  /** The schemes that the operations with this `auth` accept, as the header WWW-Authenticate names them. */
  challengeOf(auth: Auth): string;
}

/** The part of a request that authentication reads. */
export interface ShowingRequest {
  method: string;
  headers: IncomingHttpHeaders;
  ip: string;
}

export function createAuthenticator(kinds: readonly CredentialKind[]): Authenticator {
  requireDistinct(kinds);
  const byAuth = new Map<Auth, CredentialKind[]>();
  for (const kind of kinds) {
    for (const auth of kind.auths) byAuth.set(auth, [...(byAuth.get(auth) ?? []), kind]);
  }
  return {
    challengeOf(auth) {
      const schemes = (byAuth.get(auth) ?? kinds).flatMap((kind) => kind.schemes).filter(Boolean);
      return [...new Set(schemes)].map(capitalised).join(', ');
    },
    authenticate(request, auth) {
      if (auth === 'public') return NOBODY;
      const taken = byAuth.get(auth) ?? [];
      const given = presentedBy(request);
      const kind = given && kindOf(taken, given);
      if (!kind) throw unauthenticated(request.headers.authorization, given, { taken, all: kinds });
      return kind.verify(given);
    },
  };
}

/** `Api-Key` for `api-key`. */
const capitalised = (scheme: string) => scheme.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());

/** Returns nothing if the Authorization header can not be read as one credential. */
function presentedBy({ method, headers, ip: address }: ShowingRequest): Presented | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return { scheme: undefined, secret: '', method, headers, address };
  const [, scheme, secret] = /^(?:([^\s]+) +)?(\S+)$/.exec(authorization) ?? [];
  if (!secret) return undefined;
  return { scheme: scheme?.toLowerCase() ?? '', secret, method, headers, address };
}
