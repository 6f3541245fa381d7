/**
 * Credentials that the database knows by their hash: API keys, the tokens of sessions, and environment tokens. A verified credential stays
 * in memory, so that most requests need no query. Every server forgets it when the credential or its user changes.
 */

import { batchCalls } from '../batch-calls.ts';
import { ApiError, isApiError } from '../errors.ts';
import { createAddressLimit } from '../http/attempt-limit.ts';
import type { Platform } from '../module.ts';
import { hashSecret } from '../secrets/random-secrets.ts';

/** How many look-ups from one address may find nothing. */
const WRONG = { max: 300, perMs: 60_000 };
/** After too many wrong look-ups, credentials from that address are queued, and looked up in batches, one at a time. */
const SUSPECTS = { atOnce: 1, size: 1000 };

export interface VerifiedActor<Who> {
  actor: Who;
  /** Null if the credential does not expire. */
  expiresAt: string | null;
}

export interface StoredCredentials<Who> {
  /** Returns at once if the credential is in memory. Throws or rejects with a 401, or a 429 after too many wrong ones. */
  verify(secret: string, address: string): Who | Promise<Who>;
}

export function createStoredCredentials<Who>(
  { createCache }: Pick<Platform, 'createCache'>,
  options: {
    find(hash: Buffer): Promise<VerifiedActor<Who> | undefined>;
    /** Returns those of the hashes that belong to valid credentials, in hexadecimal. */
    listKnown(hashes: Buffer[]): Promise<string[]>;
    /** What a verified credential depends on, as notifications name it. */
    subjectsOf(actor: Who): string[];
    /** Called at each use. */
    note?(actor: Who): void;
    /** The message for a credential that is not known. */
    unknown: string;
  },
): StoredCredentials<Who> {
  const { find, listKnown, subjectsOf, note, unknown } = options;
  const cache = createCache<string, VerifiedActor<Who>>((_, { actor }) => subjectsOf(actor));
  const wrong = createAddressLimit(WRONG);
  const areKnown = batchCalls(async (hashes: Buffer[]) => {
    const known = new Set(await listKnown(hashes));
    return hashes.map((one) => known.has(one.toString('hex')));
  }, SUSPECTS);

  const noting = (actor: Who): Who => {
    note?.(actor);
    return actor;
  };

  /** A valid credential is accepted even after many wrong ones from the same address. */
  async function beginAttempt(secretHash: Buffer, address: string): Promise<() => void> {
    try {
      return wrong.begin(address);
    } catch (refusal) {
      if (await areKnown(secretHash)) return () => {};
      throw refusal;
    }
  }

  async function read(secretHash: Buffer): Promise<VerifiedActor<Who>> {
    const found = await find(secretHash);
    if (!found) throw new ApiError('unauthenticated', { message: unknown });
    return found;
  }

  async function lookUp(secretHash: Buffer, cacheKey: string, address: string): Promise<Who> {
    const giveBack = await beginAttempt(secretHash, address);
    try {
      const { actor } = await cache.load(
        cacheKey,
        () => read(secretHash),
        ({ expiresAt }) => (expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt)),
      );
      giveBack();
      return noting(actor);
    } catch (error) {
      if (!isApiError(error, 'unauthenticated')) giveBack();
      throw error;
    }
  }

  return {
    verify(secret, address) {
      const secretHash = hashSecret(secret);
      const cacheKey = secretHash.toString('latin1');
      const known = cache.get(cacheKey);
      return known ? noting(known.actor) : lookUp(secretHash, cacheKey, address);
    },
  };
}
