/** Limits how often one caller may use an operation. Each server counts for itself. */
import type { Rate } from '@oriel/contract';
import type { Actor } from '../auth/actor.ts';
import { addressGroup, createAttemptLimit } from './attempt-limit.ts';

/** Counts a call, or throws a 429. */
export type RateLimit = (actor: Actor, address: string) => void;

export function createRateLimit({ max, perSeconds, per = 'credential' }: Rate): RateLimit {
  const message = `One caller may do this ${max} times in ${perSeconds} seconds: wait, and try again.`;
  const limit = createAttemptLimit({ max, perMs: perSeconds * 1000, message });
  return (actor, address) => {
    limit.begin((per === 'credential' && credentialOf(actor)) || `address ${addressGroup(address)}`);
  };
}

function credentialOf(actor: Actor): string | undefined {
  switch (actor.kind) {
    case 'nobody':
      return undefined;
    case 'person':
      return actor.apiKeyId === null ? `user ${actor.userId}` : `key ${actor.apiKeyId}`;
    default:
      return `embed session ${actor.embed.sessionId}`;
  }
}
