/**
 * The embed tokens that were ended before they expired. The list is in memory, and notifications keep it up to date.
 * While the server cannot receive notifications, it does not use the list and asks the database about each token.
 */
import type { Platform } from '../../platform/module.ts';
import { listRevocations, type RevocationRow } from './tokens.store.ts';

export const REVOCATIONS_CHANNEL = 'oriel_embed_revocations';

/** The parts of a token by which it can be revoked. `exchangedAt` is in seconds, by the database's clock. */
export interface Revocable {
  sessionId: number;
  userId: number;
  embedTenant: string;
  apiKeyId: number;
  deploymentId: number;
  creatorMode: boolean;
  exchangedAt: number;
}

export interface Revocations {
  /** Whether `covers` knows every revocation. */
  readonly isCurrent: boolean;
  covers(token: Revocable): boolean;
  /** Adds a revocation that this server has just made, so that it does not have to wait for the notification. */
  add(row: RevocationRow): void;
  stop(): void;
}

const RETRY_MS = 250;
/** Reading the list again drops the entries that are older than every valid token. */
const REFRESH_MS = 3_600_000;

const KINDS = ['userId', 'embedTenant', 'apiKeyId', 'deploymentId', 'creatorMode'] as const;

class RevocationList {
  readonly #sessions = new Set<number>();
  /** The time up to which tokens are revoked, by kind and value: `userId:12`. */
  readonly #until = new Map<string, number>();

  add(row: RevocationRow) {
    if (row.sessionId !== null) this.#sessions.add(row.sessionId);
    for (const kind of KINDS) {
      if (row[kind] === null) continue;
      const key = `${kind}:${row[kind]}`;
      this.#until.set(key, Math.max(row.until, this.#until.get(key) ?? 0));
    }
  }

  covers(token: Revocable): boolean {
    if (this.#sessions.has(token.sessionId)) return true;
    if (this.#until.size === 0) return false;
    return KINDS.some((kind) => (this.#until.get(`${kind}:${token[kind]}`) ?? 0) >= token.exchangedAt);
  }
}

export function createRevocations({
  essential: db,
  listener,
  log,
}: Pick<Platform, 'essential' | 'listener' | 'log'>): Revocations {
  let list = new RevocationList();
  let next: RevocationList | undefined;
  let isLoaded = false;
  let stopped = false;
  let retry: NodeJS.Timeout | undefined;

  async function load() {
    const fresh = new RevocationList();
    next = fresh;
    try {
      for (const row of await listRevocations(db)) fresh.add(row);
      // Another load started after this one, so its list is newer.
      if (next !== fresh) return;
      list = fresh;
      next = undefined;
      isLoaded = true;
    } catch (error) {
      if (stopped || next !== fresh) return;
      log.warn(
        { err: error },
        'could not read which embed tokens are revoked; asking the database about each token',
      );
      isLoaded = false;
      retry = setTimeout(load, RETRY_MS).unref();
    }
  }

  const add = (row: RevocationRow) => {
    list.add(row);
    // The list that is being read may not contain this row yet.
    next?.add(row);
  };

  listener.on(REVOCATIONS_CHANNEL, (payload) => {
    if (payload) return add(JSON.parse(payload));
    isLoaded = false;
    clearTimeout(retry);
    void load();
  });
  const refresh = setInterval(load, REFRESH_MS).unref();
  void load();

  return {
    get isCurrent() {
      return isLoaded && listener.isListening;
    },
    covers: (token) => list.covers(token),
    add,
    stop() {
      stopped = true;
      clearInterval(refresh);
      clearTimeout(retry);
    },
  };
}
