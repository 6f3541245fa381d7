/** Limits how often one caller may use an operation. Each server counts for itself. */
import type { Rate } from '@oriel/contract';
import type { Actor } from '../auth/actor.ts';
import { createAddressLimit, createAttemptLimit } from './attempt-limit.ts';

/** Counts a call, or throws a 429. */
export type RateLimit = (actor: Actor, address: string) => void;

export function createRateLimit({ max, perSeconds, per = 'credential' }: Rate): RateLimit {
  const message = `One caller may do this ${max} times in ${perSeconds} seconds: wait, and try again.`;
  const limits = { max, perMs: perSeconds * 1000, message };
  const ofCredential = createAttemptLimit(limits);
  const ofAddress = createAddressLimit(limits);
  return (actor, address) => {
    const credential = per === 'credential' && credentialOf(actor);
    if (credential) ofCredential.begin(credential);
    else ofAddress.begin(address);
  };
}

function credentialOf(actor: Actor): string | undefined {
  switch (actor.kind) {
    case 'nobody':
      return undefined;
    case 'person':
      return actor.apiKeyId === null ? `user ${actor.userId}` : `key ${actor.apiKeyId}`;
    case 'tokenHolder':
      return `environment token ${actor.tokenId}`;
    default:
      return `embed session ${actor.embed.sessionId}`;
  }
}
