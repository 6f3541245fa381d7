/**
 * Limits how many requests of one embed token, and of one embed tenant, are served at once. Each server counts for
 * itself.
 */
import type { EmbedSession } from '../auth/actor.ts';
import { ApiError } from '../errors.ts';

export interface AtOnce {
  /** Throws a 429 if there are too many. */
  enter(session: EmbedSession): void;
  leave(session: EmbedSession): void;
}

interface AtOnceLimits {
  perEmbedToken: number;
  perEmbedTenant: number;
  /** Of all embed tenants together. */
  inAll?: number;
}

/** A stream of events costs little, but each holds a connection, and others need connections too. */
export const listeningLimits = (connections: number): AtOnceLimits => ({
  perEmbedToken: 4,
  perEmbedTenant: Math.max(1, Math.floor(connections / 8)),
  inAll: Math.floor(connections / 2),
});

export function createAtOnce(max: AtOnceLimits): AtOnce {
  let all = 0;
  const tokens = new Map<number, number>();
  const tenants = new Map<string, number>();
  return {
    enter({ sessionId, embedTenant }) {
      const ofToken = tokens.get(sessionId) ?? 0;
      const ofTenant = tenants.get(embedTenant) ?? 0;
      if (ofToken >= max.perEmbedToken) throw tooMany('embed token');
      if (ofTenant >= max.perEmbedTenant) throw tooMany('embed tenant');
      if (max.inAll !== undefined && all >= max.inAll) throw tooMany('server');
      all++;
      tokens.set(sessionId, ofToken + 1);
      tenants.set(embedTenant, ofTenant + 1);
    },
    leave({ sessionId, embedTenant }) {
      all--;
      lower(tokens, sessionId);
      lower(tenants, embedTenant);
    },
  };
}

const tooMany = (whose: string) =>
  new ApiError('too_many_at_once', {
    message: `Too many requests of this ${whose} are being served: wait for one of them, and try again.`,
    retryAfterSeconds: 1,
  });

function lower<Key>(counts: Map<Key, number>, key: Key) {
  const count = counts.get(key)! - 1;
  if (count) counts.set(key, count);
  else counts.delete(key);
}
