/**
 * Limits how fast passwords can be guessed. Each server counts for itself: several servers allow as many times more
 * guesses, which is still far too few, and nobody who is not signed in can make a server write to the database.
 */
import { createFailureLimit, type FailureLimits } from '../../platform/http/failure-limit.ts';

/** A subject is a user, so the other addresses of the user are not affected. */
export const GUESS_LIMITS: FailureLimits = {
  perSubject: 10,
  perAddress: 100,
  perMs: 15 * 60_000,
  message: 'Too many wrong passwords: wait, and try again.',
};

export const createGuesses = () => createFailureLimit(GUESS_LIMITS);
