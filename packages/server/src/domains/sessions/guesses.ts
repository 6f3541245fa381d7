/**
 * Limits how fast passwords can be guessed. Each server counts for itself: several servers allow as many times more
 * guesses, which is still far too few, and nobody who is not signed in can make a server write to the database.
 */
import { createAttemptLimit } from '../../platform/http/attempt-limit.ts';
import { createFailureLimit, type FailureLimits } from '../../platform/http/failure-limit.ts';

/** A subject is a name in the form in which names are compared. Other addresses that use the name are not affected. */
export const GUESS_LIMITS: FailureLimits = {
  perSubject: 10,
  perAddress: 100,
  perMs: 15 * 60_000,
  message: 'Too many wrong passwords: wait, and try again.',
};

export const createGuesses = () => createFailureLimit(GUESS_LIMITS);

/** By user, wherever they sign in from: each sign-in hashes a password, and these take turns with those of all others. */
export const SIGN_IN_LIMIT = {
  max: 200,
  perMs: 15 * 60_000,
  message: 'This user has signed in too often: wait, and keep the tokens instead of signing in again.',
};

export const createSignInLimit = () => createAttemptLimit(SIGN_IN_LIMIT);
