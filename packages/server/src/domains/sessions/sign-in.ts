/**
 * Verifies passwords. An unknown user, a user without a password and a wrong password take the same time and get the same
 * answer, so that nobody learns which users exist.
 */
import type { Database } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { addressGroup } from '../../platform/http/failure-limit.ts';
import { verifyPassword } from '../users/index.ts';
import type { Guesses } from './guesses.ts';
import * as store from './sign-in.store.ts';

/** Where an attempt comes from. */
export interface SignInOrigin {
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
  proveAgain(userId: number, password: string, ip: string): Promise<Proven>;
}

export function createSignIn({ db, guesses }: { db: Database; guesses: Guesses }): SignIn {
  /** The cheap limits come first, and hashing last, because it is expensive. */
  async function attempt(
    who: string,
    ip: string,
    find: () => Promise<store.Candidate | undefined>,
    password: string,
  ): Promise<Proven | undefined> {
    const giveBack = guesses.begin(who, ip);
    let isRight = false;
    try {
      const candidate = await find();
      const { passwordHash = null } = candidate ?? {};
      isRight = await verifyPassword(passwordHash, password, addressGroup(ip));
      return isRight ? { userId: candidate!.userId, passwordHash: passwordHash! } : undefined;
    } catch (error) {
      // The server was busy, which says nothing about the password.
      giveBack();
      throw error;
    } finally {
      if (isRight) giveBack();
    }
  }

  return {
    async prove(name, password, { ip }) {
      const who = name.trim();
      const proven = await attempt(who.toLowerCase(), ip, () => store.findCandidate(db, who), password);
      if (!proven) throw new ApiError('sign_in_failed');
      return proven;
    },
    async proveAgain(userId, password, ip) {
      const passwordHash = await store.findPasswordHash(db, userId);
      if (passwordHash === null) throw new ApiError('no_password');
      const find = async () => ({ userId, passwordHash });
      const proven = await attempt(`user ${userId}`, ip, find, password);
      if (!proven) throw new ApiError('wrong_password');
      return proven;
    },
  };
}
