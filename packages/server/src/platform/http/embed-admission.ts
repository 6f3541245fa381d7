/**
 * Limits how many requests of one embed token, and of one embed tenant, are served at once. Each server counts for
 * itself.
 */
import { createAdmission, type Excess, notNow } from '../admission/admission.ts';
import type { EmbedSession } from '../auth/actor.ts';

export interface EmbedAdmission {
  /** Throws a 429 if there are too many of the token or the tenant, and a 503 if there are too many in all. */
  enter(session: EmbedSession): void;
  leave(session: EmbedSession): void;
}

interface EmbedLimits {
  perEmbedToken: number;
  perEmbedTenant: number;
  /** The limit for all embed tenants together. */
  inAll?: number;
}

/** A stream of events costs little, but each holds a connection, and others need connections too. */
export const listeningLimits = (connections: number): EmbedLimits => ({
  perEmbedToken: 4,
  perEmbedTenant: Math.max(1, Math.floor(connections / 8)),
  inAll: Math.floor(connections / 2),
});

export function createEmbedAdmission(max: EmbedLimits): EmbedAdmission {
  const tenants = createAdmission({
    places: max.perEmbedTenant,
    sharerPlaces: max.perEmbedToken,
    waitingMax: 0,
  });
  const all = createAdmission({ places: max.inAll ?? Number.POSITIVE_INFINITY, waitingMax: 0 });
  return {
    enter({ sessionId, embedTenant }) {
      const excess = tenants.enter(String(sessionId), embedTenant);
      if (excess) throw tooMany('sharer', excess === 'sharer' ? 'embed token' : 'embed tenant');
      if (!all.enter()) return;
      tenants.leave(String(sessionId), embedTenant);
      throw tooMany('all', 'server');
    },
    leave({ sessionId, embedTenant }) {
      tenants.leave(String(sessionId), embedTenant);
      all.leave();
    },
  };
}

const tooMany = (excess: Excess, whose: string) =>
  notNow(excess, `Too many requests of this ${whose} are being served: wait for one of them, and try again.`);
