/**
 * Caches values from the database until the database notifies us that they changed. While notifications cannot be
 * received, nothing is cached.
 */
import { LRUCache } from 'lru-cache';
import type { Listener } from './listener.ts';

/** Triggers notify this channel of changes to credentials, users, settings, signing keys and deployments. */
export const CREDENTIALS_CHANNEL = 'oriel_credentials';

/** The lifetime of a value. Changes are notified, so it only limits how long an unexpected wrong value can stay. */
const CACHED_MS = 60_000;
const CACHED_MAX = 10_000;

export interface NotifiedCache<Key, Value> {
  get(key: Key): Value | undefined;
  /**
   * Reads the value and caches it, at most until the time that `goodUntil` gives for it; not at all if that is over. Calls
   * for the same key that come while it is read share the result.
   */
  load(key: Key, read: () => Promise<Value>, goodUntil?: (value: Value) => number): Promise<Value>;
}

export function createNotifiedCache<Key extends string | number, Value>(
  listener: Listener,
  channel: string,
  /**
   * Returns the subjects that the value depends on, as notifications name them, for example `user:12`. A notification
   * without a subject drops all values. Without this function, every notification does.
   */
  subjectsOf?: (key: Key, value: Value) => string[],
): NotifiedCache<Key, Value> {
  /** The keys of `cache` by subject, so that a notification costs as much as it drops. */
  const keysOf = new Map<string, Set<Key>>();
  const cache = new LRUCache<Key, { value: Value; until: number; subjects: string[] }>({
    // With `max`, each of many caches would allocate the memory for all of its entries at every start.
    maxSize: CACHED_MAX,
    sizeCalculation: () => 1,
    dispose({ subjects }, key) {
      for (const subject of subjects) {
        const keys = keysOf.get(subject);
        keys?.delete(key);
        if (keys?.size === 0) keysOf.delete(subject);
      }
    },
  });
  const loads = new Map<Key, Promise<Value>>();
  /** For each read that has not ended: the subjects that changed since it began, '' for all. */
  const reads = new Set<Set<string>>();

  listener.on(channel, (subject = '') => {
    const changed = subjectsOf ? subject : '';
    for (const heard of reads) heard.add(changed);
    loads.clear();
    if (!changed) return cache.clear();
    for (const key of [...(keysOf.get(changed) ?? [])]) cache.delete(key);
  });

  function store(key: Key, value: Value, until: number, subjects: string[]) {
    cache.set(key, { value, until, subjects });
    for (const subject of subjects) {
      const keys = keysOf.get(subject);
      if (keys) keys.add(key);
      else keysOf.set(subject, new Set([key]));
    }
  }

  async function readAndStore(
    key: Key,
    read: () => Promise<Value>,
    goodUntil?: (value: Value) => number,
  ): Promise<Value> {
    const heard = new Set<string>();
    reads.add(heard);
    try {
      const value = await read();
      const now = Date.now();
      const until = Math.min(now + CACHED_MS, goodUntil?.(value) ?? Number.POSITIVE_INFINITY);
      const subjects = subjectsOf?.(key, value) ?? [];
      // A value that was read before a change arrived must not be cached.
      const isCurrent = !heard.has('') && !subjects.some((subject) => heard.has(subject));
      if (listener.isListening && isCurrent && until > now) store(key, value, until, subjects);
      return value;
    } finally {
      reads.delete(heard);
    }
  }

  return {
    get(key) {
      if (!listener.isListening) return undefined;
      const found = cache.get(key);
      return found && found.until >= Date.now() ? found.value : undefined;
    },
    load(key, read, goodUntil) {
      // Not shared while we do not listen: a change may have come after the other call began to read, and we would not
      // know.
      if (!listener.isListening) return readAndStore(key, read, goodUntil);
      const running = loads.get(key);
      if (running) return running;
      const load = readAndStore(key, read, goodUntil).finally(() => {
        if (loads.get(key) === load) loads.delete(key);
      });
      loads.set(key, load);
      return load;
    },
  };
}
