/**
 * Verifies passwords. An unknown user, a user without a password and a wrong password take the same time and get the same
 * answer, so that nobody learns which users exist.
 */
import type { RefusalAudit } from '../../platform/audit/events.ts';
import type { Database } from '../../platform/db/database.ts';
import { ApiError, isApiError } from '../../platform/errors.ts';
import { type AttemptLimit, siteOf } from '../../platform/http/attempt-limit.ts';
import type { CallOrigin } from '../../platform/http/call.ts';
import type { CountedAttempt, FailureLimit } from '../../platform/http/failure-limit.ts';
import { verifyPassword } from '../users/index.ts';
import { createSignInLimit } from './guesses.ts';
import * as store from './sign-in.store.ts';

/** Where an attempt comes from. */
export type SignInOrigin = CallOrigin;

/** A person whose password was right, and its hash at that moment: the password may change before a session begins. */
export interface ProvenPassword {
  userId: number;
  passwordHash: string;
}

export interface SignIn {
  /** `name` is an email or a username. Throws a 401, a 429 after too many wrong passwords, or a 503 under load. */
  prove(name: string, password: string, origin: SignInOrigin): Promise<ProvenPassword>;
  /** For a person who is signed in, and changes their password. */
  proveAgain(userId: number, password: string, origin: SignInOrigin): Promise<ProvenPassword>;
}

export function createSignIn({
  db,
  guesses,
  signIns = createSignInLimit(),
  attempts,
}: {
  db: Database;
  guesses: FailureLimit;
  signIns?: AttemptLimit;
  attempts: RefusalAudit;
}): SignIn {
  /** The name that an unknown person typed is not recorded: it may be a password that was typed into the wrong field. */
  const recordFailure = (userId: number | null, { operation, ip, requestId }: SignInOrigin) =>
    attempts.record({
      operation,
      resourceType: 'failedSignIn',
      resourceId: userId === null ? 'unknown' : String(userId),
      userId: null,
      ip,
      requestId,
    });

  /**
   * Wrong passwords are counted by name and not by user: otherwise, guesses for an email would show which username the
   * same person has. The cheap limits come first, and hashing last, because it is expensive.
   */
  async function attempt(
    find: () => Promise<store.Candidate>,
    password: string,
    origin: SignInOrigin,
  ): Promise<ProvenPassword | undefined> {
    let guess: CountedAttempt | undefined;
    let userId: number | null = null;
    try {
      guess = guesses.begin(origin.ip);
      const candidate = await find();
      const { key, passwordHash } = candidate;
      userId = candidate.userId;
      guess.at(key);
      // Only checks the limit, and takes nothing yet: waiting attempts of others must not keep the person out.
      if (userId !== null) signIns.begin(String(userId))();
      if (await verifyPassword(passwordHash, password, origin.ip)) {
        guess.giveBack();
        signIns.begin(String(userId));
        return { userId: userId!, passwordHash: passwordHash! };
      }
      recordFailure(userId, origin);
      return undefined;
    } catch (error) {
      // The server was busy, or there were too many attempts, which says nothing about the password.
      guess?.giveBack();
      if (isApiError(error, 'rate_limited')) recordFailure(userId, origin);
      throw error;
    }
  }

  return {
    async prove(name, password, origin) {
      // The prefixes keep the key of a name apart from the key of a user who is signed in.
      const find = async () => {
        const candidate = await store.findCandidate(db.as(siteOf(origin.ip)), name.trim());
        return { ...candidate, key: `name ${candidate.key}` };
      };
      const proven = await attempt(find, password, origin);
      if (!proven) throw new ApiError('sign_in_failed');
      return proven;
    },
    async proveAgain(userId, password, origin) {
      const passwordHash = await store.findPasswordHash(db.as(siteOf(origin.ip)), userId);
      if (passwordHash === null) throw new ApiError('no_password');
      const find = async () => ({ key: `user ${userId}`, userId, passwordHash });
      const proven = await attempt(find, password, origin);
      if (!proven) throw new ApiError('wrong_password');
      return proven;
    },
  };
}
