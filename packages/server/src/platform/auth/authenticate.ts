/**
 * Verifies credentials. What was verified is kept in memory, so that the common case costs no query; a
 * notification from the database empties that memory on every server, and while notifications can not be heard
 * every request is verified in the database.
 */
import type { Auth } from '@oriel/contract';
import type { Database } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import { ApiError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { type Actor, ANONYMOUS } from './actor.ts';
import { hashApiKey, looksLikeApiKey } from './api-keys.ts';
import { type CredentialRow, findCredential, updateKeysLastUsed } from './store.ts';

export const CREDENTIALS_CHANNEL = 'oriel_credentials';

/** Not needed for revocation, which is notified: a bound on how long anything unforeseen can last. */
const KEEP_MS = 60_000;
const KEEP_MAX = 10_000;
const LAST_USED_EVERY_MS = 15_000;

interface Verified {
  actor: Actor;
  goodUntil: number;
}

export interface Authenticator {
  /** Answers at once where the credential is known, else after asking the database. Throws or rejects with a 401. */
  authenticate(authorization: string | undefined, auth: Auth): Actor | Promise<Actor>;
  stop(): Promise<void>;
}

export function createAuthenticator(db: Database, listener: Listener, log: Logger): Authenticator {
  const verified = new Map<string, Verified>();
  const lastUsed = new Map<number, string>();
  let generation = 0;

  listener.on(CREDENTIALS_CHANNEL, () => {
    generation++;
    verified.clear();
  });

  async function verify(hash: Buffer, cacheKey: string): Promise<Actor> {
    const before = generation;
    const row = await findCredential(db, hash);
    if (!row) throw new ApiError('unauthenticated');
    const actor = toActor(row);
    noteUse(actor);
    // What was read before a change arrived must not be remembered after it.
    if (listener.hears && before === generation) {
      if (verified.size >= KEEP_MAX) verified.clear();
      verified.set(cacheKey, { actor, goodUntil: goodUntil(row) });
    }
    return actor;
  }

  const noteUse = ({ apiKeyId }: Actor) => {
    if (apiKeyId !== null && !lastUsed.has(apiKeyId)) lastUsed.set(apiKeyId, new Date().toISOString());
  };

  async function writeLastUsed() {
    const uses = [...lastUsed].map(([apiKeyId, at]) => ({ apiKeyId, at }));
    lastUsed.clear();
    if (uses.length) await updateKeysLastUsed(db, uses);
  }

  const flush = () =>
    writeLastUsed().catch((error) => log.warn({ err: error }, 'could not note the use of API keys'));
  const timer = setInterval(flush, LAST_USED_EVERY_MS).unref();

  return {
    authenticate(authorization, auth) {
      if (auth === 'public') return ANONYMOUS;
      const hash = hashApiKey(apiKeyOf(authorization, auth));
      const cacheKey = hash.toString('latin1');
      const known = listener.hears ? verified.get(cacheKey) : undefined;
      if (!known || known.goodUntil < Date.now()) return verify(hash, cacheKey);
      noteUse(known.actor);
      return known.actor;
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

function apiKeyOf(authorization: string | undefined, auth: Auth): string {
  const [, scheme, secret] = /^(Api-Key|Bearer) +(\S+)$/i.exec(authorization ?? '') ?? [];
  const schemeFits = auth === 'management' || scheme?.toLowerCase() === 'api-key';
  if (!secret || !schemeFits || !looksLikeApiKey(secret)) throw new ApiError('unauthenticated');
  return secret;
}

const toActor = (row: CredentialRow): Actor => ({
  userId: row.userId,
  apiKeyId: row.apiKeyId,
  deploymentIds: row.deploymentIds,
  actions: new Set(row.actions),
});

const goodUntil = (row: CredentialRow) =>
  Math.min(Date.now() + KEEP_MS, row.expiresAt ? Date.parse(row.expiresAt) : Number.POSITIVE_INFINITY);
