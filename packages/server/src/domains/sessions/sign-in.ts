/**
 * Verifies passwords. An unknown user, a user without a password and a wrong password take the same time and get the same
 * answer, so that nobody learns which users exist.
 */
import type { Attempts } from '../../platform/audit/events.ts';
import type { Database } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { addressGroup } from '../../platform/http/attempt-limit.ts';
import { verifyPassword } from '../users/index.ts';
import type { Guesses } from './guesses.ts';
import * as store from './sign-in.store.ts';

/** Where an attempt comes from. */
export interface SignInOrigin {
  /** The id of the operation, for the audit log. */
  operation: string;
  ip: string;
  requestId: string;
  userAgent?: string | undefined;
}

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
  guesses: Guesses;
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

  /** The cheap limits come first, and hashing last, because it is expensive. */
  async function attempt(
    who: string,
    find: () => Promise<store.Candidate | undefined>,
    password: string,
    origin: SignInOrigin,
  ): Promise<Proven | undefined> {
    const giveBack = guesses.begin(who, origin.ip);
    let isRight = false;
    try {
      const candidate = await find();
      const { passwordHash = null } = candidate ?? {};
      isRight = await verifyPassword(passwordHash, password, addressGroup(origin.ip));
      if (isRight) return { userId: candidate!.userId, passwordHash: passwordHash! };
      recordFailure(candidate?.userId, origin);
      return undefined;
    } catch (error) {
      // The server was busy, which says nothing about the password.
      giveBack();
      throw error;
    } finally {
      if (isRight) giveBack();
    }
  }

  return {
    async prove(name, password, origin) {
      const who = name.trim();
      const find = () => store.findCandidate(db, who);
      const proven = await attempt(who.toLowerCase(), find, password, origin);
      if (!proven) throw new ApiError('sign_in_failed');
      return proven;
    },
    async proveAgain(userId, password, origin) {
      const passwordHash = await store.findPasswordHash(db, userId);
      if (passwordHash === null) throw new ApiError('no_password');
      const find = async () => ({ userId, passwordHash });
      const proven = await attempt(`user ${userId}`, find, password, origin);
      if (!proven) throw new ApiError('wrong_password');
      return proven;
    },
  };
}
