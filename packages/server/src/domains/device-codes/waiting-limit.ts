/**
 * The person is not known when a device begins, so the number of waiting devices has a limit. Each server counts for
 * itself. While few wait, the rate of the operation is the only limit of an address. While many wait, each site (an
 * IPv4 address, or 48 bits of IPv6) gets few of the places that are left, so that one site cannot take the places of
 * all others.
 */
import { createAttemptLimit, siteOf } from '../../platform/http/attempt-limit.ts';

const LIMITS = { few: 5000, perSite: 3, max: 50_000 };

export interface WaitingLimit {
  /** Counts a device until its code expires. Throws a 429 if too many wait. */
  begin(ip: string): void;
}

export function createWaitingLimit(perMs: number, { few, perSite, max } = LIMITS): WaitingLimit {
  const limit = (places: number) =>
    createAttemptLimit({
      max: places,
      perMs,
      message: 'Too many devices wait for approval: try again later.',
    });
  const [first, ofSite, last] = [limit(few), limit(perSite), limit(max - few)];
  return {
    begin(ip) {
      try {
        first.begin('all');
      } catch {
        const giveBack = ofSite.begin(siteOf(ip));
        try {
          last.begin('all');
        } catch (refusal) {
          // A device that got no place must not use one up.
          giveBack();
          throw refusal;
        }
      }
    },
  };
}
