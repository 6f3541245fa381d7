/** The order in which callers hash. Hashing is slow, and anonymous callers can ask for it. */
import { createSiteAdmission } from '../../platform/http/site-admission.ts';

/** Each site has at most one place, so that a second site never waits for the first one. */
const SITES = {
  places: 2,
  sharerPlaces: 1,
  waitingMax: 1000,
  sharerWaitingMax: 1,
  waitMs: 10_000,
  rememberedMax: 50_000,
};
const NETWORKS = {
  places: 1,
  sharerPlaces: 1,
  waitingMax: 20,
  sharerWaitingMax: 20,
  waitMs: 5000,
  rememberedMax: 50_000,
};

export const createHashing = () => createSiteAdmission({ sites: SITES, networks: NETWORKS });
