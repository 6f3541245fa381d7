/**
 * Finds out who the caller is: reads the credential of the request, and lets the kind of credential that accepts it
 * verify it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Auth, Operation } from '@oriel/contract';
import { type Actor, NOBODY } from './actor.ts';
import { unauthenticated } from './credential-hints.ts';
import { type CredentialKind, kindOf, type PresentedCredential, requireDistinct } from './credentials.ts';

export interface Authenticator {
  /**
   * Returns at once if the credential is known, and otherwise asks the database. Throws or rejects with a 401, or with
   * a 429 after too many wrong credentials.
   */
  authenticate(request: ShowingRequest, op: Protection): Actor | Promise<Actor>;
  /** Whether the request carries, in its Authorization header, a credential that no page of another origin may send. */
  isForServers(request: ShowingRequest): boolean;
  /** The schemes that the operation accepts, as the header WWW-Authenticate names them. */
  challengeOf(op: Protection): string;
}

/** The part of an operation that says which credentials it accepts. */
type Protection = Pick<Operation, 'auth' | 'embed'>;

/** The part of a request that authentication reads. */
export interface ShowingRequest {
  method: string;
  headers: IncomingHttpHeaders;
  ip: string;
  /** A page of another origin made it. */
  isCrossOrigin?: boolean;
}

export function createAuthenticator(kinds: readonly CredentialKind[]): Authenticator {
  requireDistinct(kinds);
  const byAuth = groupByAuth(kinds);
  const inPages = groupByAuth(kinds.filter((kind) => kind.inPages));

  /**
   * The kinds to name to a caller. A management operation that is closed to embed tokens still verifies them, so that
   * the reply is a 403 and not a 401, but nobody should be told to send one.
   */
  const namedFor = ({ auth, embed }: Protection, taken = byAuth) =>
    (taken.get(auth) ?? kinds).filter((kind) => embed || auth === 'embed' || !kind.auths.includes('embed'));

  return {
    challengeOf(op) {
      const schemes = namedFor(op).flatMap((kind) => kind.schemes);
      return [...new Set(schemes.filter(Boolean))].map(capitalised).join(', ');
    },
    isForServers(request) {
      // With a scheme or without one.
      const given = presentedBy(request, 'query');
      const kind = given?.scheme === undefined ? undefined : kindOf(kinds, given);
      return kind !== undefined && !kind.inPages;
    },
    authenticate(request, op) {
      const { auth } = op;
      if (auth === 'public') return NOBODY;
      const taken = request.isCrossOrigin ? inPages : byAuth;
      const given = presentedBy(request, auth);
      const kind = given && kindOf(taken.get(auth) ?? [], given);
      if (!kind) {
        const named = { taken: namedFor(op, taken), all: kinds };
        throw unauthenticated(request.headers.authorization, given, named);
      }
      return kind.verify(given);
    },
  };
}

function groupByAuth(kinds: readonly CredentialKind[]): ReadonlyMap<Auth, CredentialKind[]> {
  const groups = new Map<Auth, CredentialKind[]>();
  for (const kind of kinds) {
    for (const auth of kind.auths) groups.set(auth, [...(groups.get(auth) ?? []), kind]);
  }
  return groups;
}

/** `Api-Key` for `api-key`. */
const capitalised = (scheme: string) => scheme.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());

/**
 * Returns nothing if the Authorization header cannot be read as one credential. Clients that query send a token without
 * a scheme, which counts as `Bearer` there.
 */
function presentedBy(
  { method, headers, ip: address }: ShowingRequest,
  auth: Auth,
): PresentedCredential | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return { scheme: undefined, secret: '', method, headers, address };
  const [, scheme, secret] = /^(?:([^\s]+) +)?(\S+)$/.exec(authorization) ?? [];
  if (!secret) return undefined;
  const bare = auth === 'query' ? 'bearer' : '';
  return { scheme: scheme?.toLowerCase() ?? bare, secret, method, headers, address };
}
