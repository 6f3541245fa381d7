/**
 * Nobody is known when a device begins, so the number of waiting ones has a limit. Each server counts for itself. While
 * few wait, the rate of the operation is the only limit of an address. While many wait, each network gets few of the
 * places that are left, so that one network can not take the places of all others.
 */
import { addressGroup, createAttemptLimit } from '../../platform/http/attempt-limit.ts';

const LIMITS = { few: 5000, perNetwork: 3, max: 50_000 };
/** Sites have whole networks of this size, and so many thousands of smaller ones. */
const NETWORK_BITS = 48;

export interface Waiting {
  /** Counts a device until its code expires. Throws a 429 if too many wait. */
  begin(ip: string): void;
}

export function createWaiting(perMs: number, { few, perNetwork, max } = LIMITS): Waiting {
  const limit = (places: number) =>
    createAttemptLimit({
      max: places,
      perMs,
      message: 'Too many devices wait for approval: try again later.',
    });
  const [first, ofNetwork, last] = [limit(few), limit(perNetwork), limit(max - few)];
  return {
    begin(ip) {
      try {
        first.begin('all');
      } catch {
        ofNetwork.begin(addressGroup(ip, NETWORK_BITS));
        last.begin('all');
      }
    },
  };
}
