/**
 * Verifies credentials. What was verified is kept in memory, so that the common case costs no query; what changes is
 * forgotten on every server.
 */
import type { Auth } from '@oriel/contract';
import { type Database, retrying } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import { createNotifiedCache } from '../db/notified-cache.ts';
import { ApiError, isApiError } from '../errors.ts';
import { gather } from '../gather.ts';
import { addressGroup, createFailureLimit } from '../http/failure-limit.ts';
import type { Logger } from '../log.ts';
import { type Actor, embedOf, NOBODY, type Person } from './actor.ts';
import { hashApiKey, looksLikeApiKey } from './api-keys.ts';
import { unauthenticated } from './credential-hints.ts';
import type { EmbedTokens } from './embed-tokens.ts';
import { toPermissions } from './permissions.ts';
import {
  type CredentialRow,
  findCredential,
  listKnownHashes,
  updateKeysLastUsed,
  updateSessionsLastSeen,
} from './store.ts';
import { createUses } from './uses.ts';

export const CREDENTIALS_CHANNEL = 'oriel_credentials';

const LAST_USED_EVERY_MS = 15_000;
const LAST_SEEN_EVERY_MS = 5 * 60_000;

/** Look-ups from one address that found no key. */
const WRONG_KEYS = { max: 300, perMs: 60_000 };
/** Of addresses beyond that, one statement at a time asks about all keys that wait. */
const SUSPECTS = { atOnce: 1, size: 1000 };

const UNKNOWN_KEY = 'The API key is unknown, has expired or was deleted.';

interface Verified {
  actor: Person;
  /** In milliseconds; never for a key that does not expire. */
  expiresAt: number;
}

export interface Authenticator {
  /**
   * Answers at once where the credential is known, else after asking the database. Throws or rejects with a 401, or
   * with a 429 where too many wrong keys came from the address.
   */
  authenticate(authorization: string | undefined, auth: Auth, address: string): Actor | Promise<Actor>;
  stop(): Promise<void>;
}

export function createAuthenticator(options: {
  db: Database;
  listener: Listener;
  embedTokens: EmbedTokens;
  log: Logger;
}): Authenticator {
  const { db, listener, embedTokens, log } = options;
  const verified = createNotifiedCache<string, Verified>(listener, CREDENTIALS_CHANNEL, (_, { actor }) => [
    `user:${actor.userId}`,
    `key:${actor.apiKeyId}`,
  ]);
  const lastUsed = createUses(LAST_USED_EVERY_MS);
  const lastSeen = createUses(LAST_SEEN_EVERY_MS);
  const wrongKeys = createFailureLimit(WRONG_KEYS);
  const areKnown = gather(async (hashes: Buffer[]) => {
    const known = new Set(await listKnownHashes(db, hashes));
    return hashes.map((hash) => known.has(hash.toString('hex')));
  }, SUSPECTS);

  /** A valid key passes, however many wrong ones came from its address. */
  async function beginAttempt(hash: Buffer, address: string): Promise<() => void> {
    try {
      return wrongKeys.begin(addressGroup(address));
    } catch (refusal) {
      if (await areKnown(hash)) return () => {};
      throw refusal;
    }
  }

  async function verify(hash: Buffer, cacheKey: string, address: string): Promise<Actor> {
    const giveBack = await beginAttempt(hash, address);
    const read = async () => {
      const row = await findCredential(db, hash);
      if (!row) throw new ApiError('unauthenticated', { message: UNKNOWN_KEY });
      return {
        actor: toActor(row),
        expiresAt: row.expiresAt ? Date.parse(row.expiresAt) : Number.POSITIVE_INFINITY,
      };
    };
    try {
      const { actor } = await verified.load(cacheKey, read, ({ expiresAt }) => expiresAt);
      giveBack();
      return noting(actor);
    } catch (error) {
      if (!isApiError(error, 'unauthenticated')) giveBack();
      throw error;
    }
  }

  const noting = (actor: Actor): Actor => {
    if (actor.kind === 'person' && actor.apiKeyId !== null) lastUsed.note(actor.apiKeyId);
    const embed = embedOf(actor);
    if (embed) lastSeen.note(embed.sessionId);
    return actor;
  };

  async function writeUses() {
    const uses = lastUsed.take().map(({ id, at }) => ({ apiKeyId: id, at }));
    const seen = lastSeen.take().map(({ id, at }) => ({ sessionId: id, at }));
    if (uses.length) await updateKeysLastUsed(db.writes, uses);
    // Rows are touched in no order, also by other servers.
    if (seen.length) await retrying(() => updateSessionsLastSeen(db.writes, seen, LAST_SEEN_EVERY_MS));
  }

  const flush = () =>
    writeUses().catch((error) => log.warn({ err: error }, 'could not note the use of credentials'));
  const timer = setInterval(flush, LAST_USED_EVERY_MS).unref();

  return {
    authenticate(authorization, auth, address) {
      if (auth === 'public') return NOBODY;
      const [scheme, secret] = credentialOf(authorization, auth);
      if (scheme === 'bearer' && auth !== 'apiKey' && !looksLikeApiKey(secret)) {
        const viewer = embedTokens.authenticate(secret);
        return viewer instanceof Promise ? viewer.then(noting) : noting(viewer);
      }
      if (auth === 'embed' || !looksLikeApiKey(secret)) throw unauthenticated(authorization, auth);
      const hash = hashApiKey(secret);
      const cacheKey = hash.toString('latin1');
      const known = verified.get(cacheKey);
      if (!known) return verify(hash, cacheKey, address);
      return noting(known.actor);
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

function credentialOf(authorization: string | undefined, auth: Auth): [scheme: string, secret: string] {
  const [, scheme, secret] = /^(Api-Key|Bearer) +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (!scheme || !secret) throw unauthenticated(authorization, auth);
  return [scheme.toLowerCase(), secret];
}

const toActor = (row: CredentialRow): Person => ({
  kind: 'person',
  userId: row.userId,
  apiKeyId: row.apiKeyId,
  deploymentIds: row.deploymentIds,
  ...toPermissions(row),
});
