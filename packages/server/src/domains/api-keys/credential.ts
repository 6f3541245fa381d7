/**
 * API keys as credentials. A verified key stays in memory, so that most requests need no query. Every server forgets the
 * key when the key or its user changes.
 */
import type { KeyHolder } from '../../platform/auth/actor.ts';
import type { CredentialKind } from '../../platform/auth/credentials.ts';
import { writeUses } from '../../platform/auth/uses.ts';
import { ApiError, isApiError } from '../../platform/errors.ts';
import { gather } from '../../platform/gather.ts';
import { addressGroup, createAttemptLimit } from '../../platform/http/attempt-limit.ts';
import type { Platform } from '../../platform/module.ts';
import { toPermissions } from '../access/index.ts';
import * as store from './credential.store.ts';
import { API_KEY_PREFIX, hashApiKey, looksLikeApiKey } from './secret.ts';

/** How many look-ups from one address may find no key. */
const WRONG_KEYS = { max: 300, perMs: 60_000 };
/** After too many of them, keys from that address wait, and one statement at a time looks up all that wait. */
const SUSPECTS = { atOnce: 1, size: 1000 };

const UNKNOWN_KEY = 'The API key is unknown, has expired or was deleted.';

interface Verified {
  actor: KeyHolder;
  /** A time in milliseconds; infinity if the key does not expire. */
  expiresAt: number;
}

export interface ApiKeyCredential {
  kind: CredentialKind;
  stop(): Promise<void>;
}

export function createApiKeyCredential({
  essential: db,
  remember,
  log,
}: Pick<Platform, 'essential' | 'remember' | 'log'>): ApiKeyCredential {
  const verified = remember<string, Verified>((_, { actor }) => [
    `user:${actor.userId}`,
    `key:${actor.apiKeyId}`,
  ]);
  const uses = writeUses({ write: (due) => store.updateLastUsed(db.writes, due), log });
  const wrongKeys = createAttemptLimit(WRONG_KEYS);
  const areKnown = gather(async (hashes: Buffer[]) => {
    const known = new Set(await store.listKnownHashes(db, hashes));
    return hashes.map((hash) => known.has(hash.toString('hex')));
  }, SUSPECTS);

  const noting = (actor: KeyHolder): KeyHolder => {
    uses.note(actor.apiKeyId);
    return actor;
  };

  /** A valid key is accepted even after many wrong keys from the same address. */
  async function beginAttempt(hash: Buffer, address: string): Promise<() => void> {
    try {
      return wrongKeys.begin(addressGroup(address));
    } catch (refusal) {
      if (await areKnown(hash)) return () => {};
      throw refusal;
    }
  }

  async function read(hash: Buffer): Promise<Verified> {
    const row = await store.findCredential(db, hash);
    if (!row) throw new ApiError('unauthenticated', { message: UNKNOWN_KEY });
    const { userId, apiKeyId, deploymentIds, expiresAt } = row;
    return {
      actor: { kind: 'person', userId, apiKeyId, deploymentIds, ...toPermissions(row) },
      expiresAt: expiresAt ? Date.parse(expiresAt) : Number.POSITIVE_INFINITY,
    };
  }

  async function lookUp(hash: Buffer, cacheKey: string, address: string): Promise<KeyHolder> {
    const giveBack = await beginAttempt(hash, address);
    try {
      const { actor } = await verified.load(
        cacheKey,
        () => read(hash),
        ({ expiresAt }) => expiresAt,
      );
      giveBack();
      return noting(actor);
    } catch (error) {
      if (!isApiError(error, 'unauthenticated')) giveBack();
      throw error;
    }
  }

  const kind: CredentialKind = {
    name: 'API key',
    auths: ['management', 'apiKey'],
    schemes: ['api-key', 'bearer'],
    example: { secret: `${API_KEY_PREFIX}an-example` },
    takes: ({ secret }) => looksLikeApiKey(secret),
    verify({ secret, address }) {
      const hash = hashApiKey(secret);
      const cacheKey = hash.toString('latin1');
      const known = verified.get(cacheKey);
      return known ? noting(known.actor) : lookUp(hash, cacheKey, address);
    },
    howToSend: '`Authorization: Api-Key sk-…`',
    whyNot({ scheme, secret }) {
      if (secret.startsWith(API_KEY_PREFIX)) {
        return `This is not an API key. An API key is \`${API_KEY_PREFIX}\`, followed by 8 to 253 printable characters.`;
      }
      return scheme === 'api-key' ? `The API key does not begin with \`${API_KEY_PREFIX}\`.` : undefined;
    },
  };
  return { kind, stop: uses.stop };
}
