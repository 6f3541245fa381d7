/**
 * Kinds of credentials. The domain that owns a kind provides it as part of its module (`Module.credentials`). The
 * authenticator tries the kinds that an operation accepts, in the order of the list of modules.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Auth } from '@oriel/contract';
import type { IdentifiedActor } from './actor.ts';

/** The credential that a request carries, and where it comes from. */
export interface PresentedCredential {
  /**
   * The scheme of the Authorization header, in lower case. It is empty if the header holds only a credential, and
   * undefined if there is no such header.
   */
  scheme: string | undefined;
  /** The credential in the Authorization header; empty if there is none. */
  secret: string;
  /**
   * The method and the headers are for kinds that come in a cookie, which must refuse requests that another site made.
   */
  method: string;
  headers: IncomingHttpHeaders;
  /** For limits on failed attempts. */
  address: string;
}

export interface CredentialKind {
  /** The name in messages, for example `API key`. */
  name: string;
  /** The `auth` values of the operations that accept it. */
  auths: readonly Exclude<Auth, 'public'>[];
  /**
   * The schemes of the Authorization header that it comes with, in lower case; an empty one stands for no scheme. A
   * kind without schemes comes in a cookie, and is tried only if there is no Authorization header.
   */
  schemes: readonly string[];
  /** Pages of other origins may send it, where the operation lets them; see http/cross-origin.ts. Absent: they may not. */
  inPages?: true;
  /** Whether the credential has the form of this kind. The kind that says yes is the only one that verifies it. */
  takes(given: PresentedCredential): boolean;
  /**
   * Returns at once if the credential is known, and otherwise asks the database. Throws or rejects with a 401, or a 429
   * after too many wrong attempts.
   */
  verify(given: PresentedCredential): IdentifiedActor | Promise<IdentifiedActor>;
  /** A credential that has the form of this kind but is not valid. No other kind may accept it. */
  example: Partial<PresentedCredential>;
  /** Completes the sentence "Send …" for a caller who sent no accepted credential. */
  howToSend: string;
  /**
   * Says why `takes` refused a credential that came with a scheme of this kind, if the kind knows. It must never repeat
   * the secret.
   */
  whyNot?(given: PresentedCredential): string | undefined;
}

export const comesWith = (kind: CredentialKind, { scheme }: PresentedCredential) =>
  scheme === undefined ? kind.schemes.length === 0 : kind.schemes.includes(scheme);

/** Returns the first of these kinds that accepts the credential. */
export const kindOf = (kinds: readonly CredentialKind[], given: PresentedCredential) =>
  kinds.find((kind) => comesWith(kind, given) && kind.takes(given));

/** Throws if an operation could confuse a credential with one of another kind. */
export function requireDistinct(kinds: readonly CredentialKind[]): void {
  for (const kind of kinds) {
    const rivals = kinds.filter((other) => kind.auths.some((auth) => other.auths.includes(auth)));
    const takers = rivals.filter((rival) => kindOf([rival], exampleOf(kind)));
    if (takers.length === 1 && takers[0] === kind) continue;
    const names = takers.map(({ name }) => name).join(', ') || 'no kind';
    throw new Error(
      `the example of the credential ${kind.name} must be accepted by it alone, but is accepted by: ${names}`,
    );
  }
}

const exampleOf = ({ example, schemes }: CredentialKind): PresentedCredential => ({
  scheme: schemes[0],
  secret: '',
  method: 'GET',
  headers: {},
  address: '',
  ...example,
});
