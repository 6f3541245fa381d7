/** Who hashes next. Hashing is slow, and callers who are not known can ask for it. */
import { createSiteGate } from '../../platform/http/site-gate.ts';

/** Each site has at most one place, so that a second site never waits for the first one. */
const SITES = {
  atOnce: 2,
  shareMax: 1,
  waitingMax: 1000,
  waitingShareMax: 1,
  waitMs: 10_000,
  rememberedMax: 50_000,
};
const NETWORKS = {
  atOnce: 1,
  shareMax: 1,
  waitingMax: 20,
  waitingShareMax: 20,
  waitMs: 5000,
  rememberedMax: 1000,
};

export const createHashing = () => createSiteGate({ sites: SITES, networks: NETWORKS });
