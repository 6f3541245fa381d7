/**
 * Verifies passwords. An unknown user, a user without a password and a wrong password take the same time and get the same
 * answer, so that nobody learns which users exist.
 */
import type { Attempts } from '../../platform/audit/events.ts';
import type { Database } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { addressGroup } from '../../platform/http/attempt-limit.ts';
import type { CallOrigin } from '../../platform/http/call.ts';
import type { FailureLimit } from '../../platform/http/failure-limit.ts';
import { verifyPassword } from '../users/index.ts';
import * as store from './sign-in.store.ts';

/** Where an attempt comes from. */
export type SignInOrigin = CallOrigin;

/** A person whose password was right, and its hash at that moment: the password may change before a session begins. */
export interface Proven {
  userId: number;
  passwordHash: string;
}

export interface SignIn {
  /** `name` is an email or a username. Throws a 401, a 429 after too many wrong passwords, or a 503 under load. */
  prove(name: string, password: string, origin: SignInOrigin): Promise<Proven>;
  /** For a person who is signed in, and changes their password. */
  proveAgain(userId: number, password: string, origin: SignInOrigin): Promise<Proven>;
}

export function createSignIn({
  db,
  guesses,
  attempts,
}: {
  db: Database;
  guesses: FailureLimit;
  attempts: Attempts;
}): SignIn {
  /** The name that an unknown person typed is not recorded: it may be a password that was typed into the wrong field. */
  const recordFailure = (userId: number | undefined, { operation, ip, requestId }: SignInOrigin) =>
    attempts.record({
      operation,
      resourceType: 'failedSignIn',
      resourceId: userId === undefined ? 'unknown' : String(userId),
      userId: null,
      ip,
      requestId,
    });

  /**
   * Wrong passwords are counted by the user who is found, because a name can be written in several ways. The cheap limits
   * come first, and hashing last, because it is expensive.
   */
  async function attempt(
    find: () => Promise<store.Candidate | undefined>,
    nameOfUnknown: string,
    password: string,
    origin: SignInOrigin,
  ): Promise<Proven | undefined> {
    const guess = guesses.begin(origin.ip);
    try {
      const candidate = await find();
      guess.at(candidate ? `user ${candidate.userId}` : `name ${nameOfUnknown}`);
      const { passwordHash = null } = candidate ?? {};
      if (await verifyPassword(passwordHash, password, addressGroup(origin.ip))) {
        guess.giveBack();
        return { userId: candidate!.userId, passwordHash: passwordHash! };
      }
      recordFailure(candidate?.userId, origin);
      return undefined;
    } catch (error) {
      // The server was busy, which says nothing about the password.
      guess.giveBack();
      throw error;
    }
  }

  return {
    async prove(name, password, origin) {
      const who = name.trim();
      const find = () => store.findCandidate(db.as(addressGroup(origin.ip)), who);
      const proven = await attempt(find, who.normalize('NFKC').toLowerCase(), password, origin);
      if (!proven) throw new ApiError('sign_in_failed');
      return proven;
    },
    async proveAgain(userId, password, origin) {
      const passwordHash = await store.findPasswordHash(db.as(addressGroup(origin.ip)), userId);
      if (passwordHash === null) throw new ApiError('no_password');
      const proven = await attempt(async () => ({ userId, passwordHash }), '', password, origin);
      if (!proven) throw new ApiError('wrong_password');
      return proven;
    },
  };
}
