/**
 * Counts sessions, viewers, queries and rows by day and embed tenant. Events are added up in memory and written once a second.
 * A process writes its own sums, never differences, so a write that failed half-way is simply repeated.
 */
import { randomUUID } from 'node:crypto';
import { type Actor, embedOf } from '../../platform/auth/actor.ts';
import type { Platform } from '../../platform/module.ts';
import * as store from './store.ts';

export interface Usage {
  countSession(embedTenant: string, viewerId: number): void;
  countQueries(actor: Actor, answered: { queries: number; isCached: boolean; rows: number }): void;
  /** The counts of this process since its start. */
  readonly totals: Readonly<{ sessions: number; queries: number; cachedQueries: number }>;
  /** Writes what was counted. Rejects if it cannot be written; it is then written later. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

const WRITE_EVERY_MS = 1000;
const DAY_MS = 86_400_000;
/** How many viewers of a day are remembered as written. Beyond it the database finds out that it knows them. */
const KNOWN_VIEWERS_MAX = 200_000;

export const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

export function createUsage({ db, log }: Pick<Platform, 'db' | 'log'>): Usage {
  const run = randomUUID();
  let number = -1;
  let day = '';
  let today = new Map<string, store.UsageCount>();
  const due = new Set<store.UsageCount>();
  const knownViewers = new Set<string>();
  let newViewers: store.SeenViewer[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function countersOf(embedTenant: string): store.UsageCount {
    const now = Math.floor(Date.now() / DAY_MS);
    if (now !== number) {
      number = now;
      day = dayOf(now * DAY_MS);
      today = new Map();
      knownViewers.clear();
    }
    let counted = today.get(embedTenant);
    if (!counted) {
      counted = { day, embedTenant, sessions: 0, queries: 0, cachedQueries: 0, rows: 0 };
      today.set(embedTenant, counted);
    }
    due.add(counted);
    timer ??= setTimeout(() => void flush().catch(() => {}), WRITE_EVERY_MS).unref();
    return counted;
  }

  function countViewer(embedTenant: string, userId: number) {
    const key = `${embedTenant} ${userId}`;
    if (knownViewers.has(key)) return;
    if (knownViewers.size >= KNOWN_VIEWERS_MAX) knownViewers.clear();
    knownViewers.add(key);
    newViewers.push({ day, embedTenant, userId });
  }

  async function write() {
    const counted = [...due];
    const viewers = newViewers;
    due.clear();
    newViewers = [];
    try {
      if (viewers.length) await store.insertViewers(db.writes, viewers);
      if (counted.length) await store.upsertCounted(db.writes, run, counted);
    } catch (error) {
      for (const one of counted) due.add(one);
      newViewers = [...viewers, ...newViewers];
      timer ??= setTimeout(() => void flush().catch(() => {}), WRITE_EVERY_MS).unref();
      log.warn({ err: error }, 'what was used could not be written, and is written later');
      throw error;
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.catch(() => {}).then(write);
    return writing;
  }

  const totals = { sessions: 0, queries: 0, cachedQueries: 0 };

  return {
    totals,
    countSession(embedTenant, viewerId) {
      totals.sessions++;
      countersOf(embedTenant).sessions++;
      countViewer(embedTenant, viewerId);
    },
    countQueries(actor, { queries, isCached, rows }) {
      const embed = embedOf(actor);
      const counted = countersOf(embed?.embedTenant ?? '');
      counted.queries += queries;
      totals.queries += queries;
      if (isCached) totals.cachedQueries += queries;
      counted.rows += rows;
      if (isCached) counted.cachedQueries += queries;
      if (actor.kind !== 'tokenHolder' && actor.kind !== 'nobody')
        countViewer(embed?.embedTenant ?? '', actor.userId);
    },
    flush,
    stop: () => flush().catch(() => {}),
  };
}
