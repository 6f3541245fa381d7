/**
 * A gate for slow work that callers who are not known can ask for. Sites take turns (an IPv4 address, or 48 bits of
 * IPv6), and within a site its networks of 64 bits do: one IPv6 site has 65,536 of them.
 */
import { createGate, type Gate, type GateLimits, type Sharer } from '../db/gate.ts';
import { addressGroup, siteOf } from './attempt-limit.ts';

export interface SiteGate {
  /** How many sites have a call that runs or waits. Nothing is kept of the networks of others. */
  readonly sites: number;
  /** `caller` is an address, or the name of a caller who is known. Rejects with a 503 if too many wait. */
  pass<T>(caller: Sharer, work: () => Promise<T>): Promise<T>;
}

/**
 * `networks` are the limits within one site. What they let through waits in the queue of the sites, so a site needs room
 * there for as many calls as they let through at once.
 */
export function createSiteGate(limits: { sites: GateLimits; networks: GateLimits }): SiteGate {
  const sites = createGate(limits.sites);
  /** Only sites with a call. */
  const networks = new Map<string, { gate: Gate; calls: number }>();
  return {
    get sites() {
      return networks.size;
    },
    async pass(caller, work) {
      if (caller === null) return sites.pass(null, work);
      const site = siteOf(caller);
      const own = networks.get(site) ?? { gate: createGate(limits.networks), calls: 0 };
      networks.set(site, own);
      own.calls++;
      try {
        return await own.gate.pass(addressGroup(caller), () => sites.pass(site, work));
      } finally {
        if (--own.calls === 0) networks.delete(site);
      }
    },
  };
}
