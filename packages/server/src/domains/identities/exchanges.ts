/**
 * Limits what callers who are not known make this server ask the provider: each end of a sign-in sends it requests, with
 * our client secret, and holds places for outgoing requests while it is slow.
 */
import { createAttemptLimit } from '../../platform/http/attempt-limit.ts';
import { createSiteAdmission } from '../../platform/http/site-admission.ts';
import { PENDING_SECONDS } from './pending-sign-in.ts';

export interface Exchanges {
  /**
   * Runs the exchange of the sign-in that began with this state, when it is the turn of the address. Rejects with a 503
   * if too many wait, and with `refusal` if the sign-in has asked the provider too often.
   */
  pass<T>(ip: string, state: string, exchange: () => Promise<T>): Promise<T>;
}

/** The cookie of a sign-in can be sent again and again. People do so if they reload the page after an error. */
const TRIES = { max: 3, perMs: PENDING_SECONDS * 1000 };
/** Half of the outgoing requests of a server stay free for others, whatever the provider does. */
const SITES = {
  places: 50,
  sharerPlaces: 10,
  waitingMax: 1000,
  sharerWaitingMax: 10,
  waitMs: 5000,
  rememberedMax: 50_000,
};
const NETWORKS = {
  places: 10,
  sharerPlaces: 10,
  waitingMax: 40,
  sharerWaitingMax: 20,
  waitMs: 5000,
  rememberedMax: 50_000,
};

export function createExchanges(refusal: () => Error): Exchanges {
  const tries = createAttemptLimit(TRIES);
  const gate = createSiteAdmission({ sites: SITES, networks: NETWORKS });
  const mayTry = (state: string) => {
    try {
      tries.begin(state);
      return true;
    } catch {
      return false;
    }
  };
  return {
    pass: (ip, state, exchange) =>
      gate.pass(ip, async () => {
        // Count after the wait: a caller that got no turn has not tried.
        if (!mayTry(state)) throw refusal();
        return exchange();
      }),
  };
}
