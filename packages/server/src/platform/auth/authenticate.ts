/**
 * Verifies credentials. What was verified is kept in memory, so that the common case costs no query; what changes is
 * forgotten on every server.
 */
import type { Auth } from '@oriel/contract';
import { type Database, retrying } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import { createNotifiedCache } from '../db/notified-cache.ts';
import { ApiError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { type Actor, ANONYMOUS } from './actor.ts';
import { hashApiKey, looksLikeApiKey } from './api-keys.ts';
import type { EmbedTokens } from './embed-tokens.ts';
import { toPermissions } from './permissions.ts';
import { type CredentialRow, findCredential, updateKeysLastUsed, updateSessionsLastSeen } from './store.ts';

export const CREDENTIALS_CHANNEL = 'oriel_credentials';

const LAST_USED_EVERY_MS = 15_000;

interface Verified {
  actor: Actor;
  /** In milliseconds; never for a key that does not expire. */
  expiresAt: number;
}

export interface Authenticator {
  /** Answers at once where the credential is known, else after asking the database. Throws or rejects with a 401. */
  authenticate(authorization: string | undefined, auth: Auth): Actor | Promise<Actor>;
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
  const lastUsed = new Map<number, string>();
  const lastSeen = new Map<number, string>();

  async function verify(hash: Buffer, cacheKey: string): Promise<Actor> {
    const read = async () => {
      const row = await findCredential(db, hash);
      if (!row) throw new ApiError('unauthenticated');
      return {
        actor: toActor(row),
        expiresAt: row.expiresAt ? Date.parse(row.expiresAt) : Number.POSITIVE_INFINITY,
      };
    };
    return noting((await verified.load(cacheKey, read, ({ expiresAt }) => expiresAt)).actor);
  }

  const noting = (actor: Actor): Actor => {
    const { apiKeyId, embed } = actor;
    if (apiKeyId !== null && !lastUsed.has(apiKeyId)) lastUsed.set(apiKeyId, new Date().toISOString());
    if (embed && !lastSeen.has(embed.sessionId)) lastSeen.set(embed.sessionId, new Date().toISOString());
    return actor;
  };

  async function writeUses() {
    const uses = [...lastUsed].map(([apiKeyId, at]) => ({ apiKeyId, at }));
    const seen = [...lastSeen].map(([sessionId, at]) => ({ sessionId, at }));
    lastUsed.clear();
    lastSeen.clear();
    if (uses.length) await updateKeysLastUsed(db.writes, uses);
    // Rows are touched in no order, also by other servers.
    if (seen.length) await retrying(() => updateSessionsLastSeen(db.writes, seen));
  }

  const flush = () =>
    writeUses().catch((error) => log.warn({ err: error }, 'could not note the use of credentials'));
  const timer = setInterval(flush, LAST_USED_EVERY_MS).unref();

  return {
    authenticate(authorization, auth) {
      if (auth === 'public') return ANONYMOUS;
      const [scheme, secret] = credentialOf(authorization, auth);
      if (scheme === 'bearer' && !looksLikeApiKey(secret)) {
        const viewer = embedTokens.authenticate(secret);
        return viewer instanceof Promise ? viewer.then(noting) : noting(viewer);
      }
      if (auth === 'embed' || !looksLikeApiKey(secret)) throw new ApiError('unauthenticated');
      const hash = hashApiKey(secret);
      const cacheKey = hash.toString('latin1');
      const known = verified.get(cacheKey);
      if (!known) return verify(hash, cacheKey);
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
  if (!scheme || !secret) throw new ApiError('unauthenticated');
  if (auth === 'apiKey' && scheme.toLowerCase() !== 'api-key') throw new ApiError('unauthenticated');
  return [scheme.toLowerCase(), secret];
}

const toActor = (row: CredentialRow): Actor => ({
  userId: row.userId,
  apiKeyId: row.apiKeyId,
  deploymentIds: row.deploymentIds,
  ...toPermissions(row),
  embed: null,
});
