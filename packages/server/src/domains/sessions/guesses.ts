/**
 * Limits how fast passwords can be guessed. Each server counts for itself: several servers allow as many times more
 * guesses, which is still far too few, and nobody who is not signed in can make a server write to the database.
 */
import { addressGroup, createAttemptLimit } from '../../platform/http/attempt-limit.ts';

const MINUTES = 60_000;
const message = 'Too many wrong passwords: wait, and try again.';

export interface Guesses {
  /**
   * Counts an attempt before its outcome is known. Returns a function that removes it from the count, to be called if
   * the password is right. Throws a 429 after too many wrong ones.
   */
  begin(who: string, ip: string): () => void;
}

export interface GuessLimits {
  /** Wrong passwords for one user from one address. Other addresses of the user are not affected. */
  perUserAndAddress: number;
  /** Wrong passwords for any users from one address. */
  perAddress: number;
}

export const GUESS_LIMITS: GuessLimits = { perUserAndAddress: 10, perAddress: 100 };

export function createGuesses(limits: GuessLimits = GUESS_LIMITS): Guesses {
  const window = { perMs: 15 * MINUTES, message };
  const ofPair = createAttemptLimit({ max: limits.perUserAndAddress, ...window });
  const ofAddress = createAttemptLimit({ max: limits.perAddress, ...window });
  return {
    begin(who, ip) {
      const network = addressGroup(ip);
      const giveBackAddress = ofAddress.begin(network);
      try {
        const giveBackPair = ofPair.begin(`${network} ${who}`);
        return () => {
          giveBackAddress();
          giveBackPair();
        };
      } catch (error) {
        giveBackAddress();
        throw error;
      }
    },
  };
}
