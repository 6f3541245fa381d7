/**
 * Admission to slow work that callers who are not known can ask for. Sites take turns (an IPv4 address, or 48 bits of
 * IPv6), and within a site its networks of 64 bits do: one IPv6 site has 65,536 of them.
 */
import { type AdmissionLimits, createAdmission, notNow, type Sharer } from '../admission/admission.ts';
import { addressGroup, siteOf } from './attempt-limit.ts';

export interface SiteAdmission {
  /** How many sites have a call that runs or waits. */
  readonly sites: number;
  /** `caller` is an address, or the name of a caller who is known. Rejects with a 503 if too many wait. */
  pass<T>(caller: Sharer, work: () => Promise<T>): Promise<T>;
}

/**
 * `networks` are the limits within one site. What they let through waits in the queue of the sites, so a site needs room
 * there for as many calls as they let through at once.
 */
export function createSiteAdmission(limits: {
  sites: AdmissionLimits;
  networks: AdmissionLimits;
}): SiteAdmission {
  // Unknown callers share an address, so a refusal must not say that this caller has too much under way.
  const refusal = () => notNow('all');
  const sites = createAdmission({ ...limits.sites, refusal });
  const networks = createAdmission({ ...limits.networks, refusal });
  return {
    get sites() {
      return networks.keys;
    },
    async pass(caller, work) {
      if (caller === null) return sites.pass(null, work);
      const site = siteOf(caller);
      return networks.take({ key: site, sharer: addressGroup(caller) }, () => sites.pass(site, work));
    },
  };
}
