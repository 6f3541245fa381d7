/**
 * Verifies credentials. What was verified is kept in memory, so that the common case costs no query; revocation
 * empties that memory on every server.
 */
import type { Action, Auth } from '@oriel/contract';
import type { Database } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import { createNotifiedCache } from '../db/notified-cache.ts';
import { ApiError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { type Actor, ANONYMOUS } from './actor.ts';
import { hashApiKey, looksLikeApiKey } from './api-keys.ts';
import { type CredentialRow, findCredential, updateKeysLastUsed } from './store.ts';

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

export function createAuthenticator(db: Database, listener: Listener, log: Logger): Authenticator {
  const verified = createNotifiedCache<string, Verified>(listener, CREDENTIALS_CHANNEL);
  const lastUsed = new Map<number, string>();

  async function verify(hash: Buffer, cacheKey: string): Promise<Actor> {
    const read = async () => {
      const row = await findCredential(db, hash);
      if (!row) throw new ApiError('unauthenticated');
      return {
        actor: toActor(row),
        expiresAt: row.expiresAt ? Date.parse(row.expiresAt) : Number.POSITIVE_INFINITY,
      };
    };
    const { actor } = await verified.load(cacheKey, read, ({ expiresAt }) => expiresAt);
    noteUse(actor);
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
      const known = verified.get(cacheKey);
      if (!known) return verify(hash, cacheKey);
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
  deploymentActions: byDeployment(row.deploymentActions),
});

function byDeployment(given: CredentialRow['deploymentActions']) {
  const actions = new Map<number, Set<Action>>();
  for (const { deploymentId, action } of given) {
    actions.set(deploymentId, (actions.get(deploymentId) ?? new Set()).add(action));
  }
  return actions;
}
