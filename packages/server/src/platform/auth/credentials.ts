/**
 * Kinds of credentials. The domain that owns a kind brings it as part of its module (`Module.credentials`), and the
 * authenticator asks the kinds that an operation takes, in the order of the list of modules.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Auth } from '@oriel/contract';
import type { Caller } from './actor.ts';

/** What a request shows of its sender. */
export interface Presented {
  /**
   * The scheme of the Authorization header, in lower case. Empty if the header holds a credential alone, undefined if
   * there is no such header.
   */
  scheme: string | undefined;
  /** The credential in the Authorization header; empty if there is none. */
  secret: string;
  /** With the headers, this is for kinds that come in a cookie, and must refuse requests that another site made. */
  method: string;
  headers: IncomingHttpHeaders;
  /** For limits on failed attempts. */
  address: string;
}

export interface CredentialKind {
  /** As messages call it: `API key`. */
  name: string;
  /** Which operations take it, by their `auth`. */
  auths: readonly Exclude<Auth, 'public'>[];
  /**
   * The schemes of the Authorization header that it comes with, in lower case; an empty one stands for no scheme. A kind
   * without any comes in a cookie: it is asked only if there is no Authorization header.
   */
  schemes: readonly string[];
  /** Whether the credential has the form of this kind. The kind that says yes is the only one that verifies it. */
  takes(given: Presented): boolean;
  /**
   * Answers at once if the credential is known, else after asking the database. Throws or rejects with a 401, or a 429
   * after too many wrong attempts.
   */
  verify(given: Presented): Caller | Promise<Caller>;
  /** A credential of this kind that is not valid, as a request would show it. No other kind may take it. */
  example: Partial<Presented>;
  /** Completes "Send …" for a caller who sent nothing that is taken. */
  howToSend: string;
  /** Says why `takes` refused what came with a scheme of this kind, if the kind can tell. Never repeats the secret. */
  whyNot?(given: Presented): string | undefined;
}

export const comesWith = (kind: CredentialKind, { scheme }: Presented) =>
  scheme === undefined ? kind.schemes.length === 0 : kind.schemes.includes(scheme);

/** The first of these kinds that takes the credential. */
export const kindOf = (kinds: readonly CredentialKind[], given: Presented) =>
  kinds.find((kind) => comesWith(kind, given) && kind.takes(given));

/** Throws if some operation could take a credential for one of another kind. */
export function requireDistinct(kinds: readonly CredentialKind[]): void {
  for (const kind of kinds) {
    const rivals = kinds.filter((other) => kind.auths.some((auth) => other.auths.includes(auth)));
    const takers = rivals.filter((rival) => kindOf([rival], exampleOf(kind)));
    if (takers.length === 1 && takers[0] === kind) continue;
    const names = takers.map(({ name }) => name).join(', ') || 'no kind';
    throw new Error(
      `the example of the credential ${kind.name} must be taken by it alone, and is taken by: ${names}`,
    );
  }
}

const exampleOf = ({ example, schemes }: CredentialKind): Presented => ({
  scheme: schemes[0],
  secret: '',
  method: 'GET',
  headers: {},
  address: '',
  ...example,
});
