/**
 * Values from the database that are kept in memory until the database says that they changed. While that can not be
 * heard, nothing is kept.
 */
import type { Listener } from './listener.ts';

/** Triggers tell here what changed of credentials, users, settings, signing keys and deployments. */
export const CREDENTIALS_CHANNEL = 'oriel_credentials';

/** Not needed for changes, which are notified: a bound on how long anything unforeseen can last. */
const KEEP_MS = 60_000;
const KEEP_MAX = 10_000;

export interface NotifiedCache<Key, Value> {
  get(key: Key): Value | undefined;
  /**
   * Reads the value and keeps it, at most until the time that `goodUntil` gives for it. Calls for one key that come
   * while it is read share the answer.
   */
  load(key: Key, read: () => Promise<Value>, goodUntil?: (value: Value) => number): Promise<Value>;
  /** For what this server itself has just changed: it does not wait for the notification. */
  forget(key: Key): void;
}

export function createNotifiedCache<Key, Value>(
  listener: Listener,
  channel: string,
  /**
   * Whom or what the value depends on, as notifications name it: `user:12`. A notification without a name concerns all,
   * and without this function every one does.
   */
  subjectsOf?: (key: Key, value: Value) => string[],
): NotifiedCache<Key, Value> {
  const kept = new Map<Key, { value: Value; until: number; subjects: string[] }>();
  const loads = new Map<Key, Promise<Value>>();
  let generation = 0;

  listener.on(channel, (subject) => {
    generation++;
    loads.clear();
    if (!subject || !subjectsOf) return kept.clear();
    for (const [key, { subjects }] of kept) if (subjects.includes(subject)) kept.delete(key);
  });

  async function readAndKeep(
    key: Key,
    read: () => Promise<Value>,
    goodUntil?: (value: Value) => number,
  ): Promise<Value> {
    const before = generation;
    const value = await read();
    // What was read before a change arrived must not be kept after it.
    if (listener.hears && before === generation) {
      // Again, so that it is the youngest.
      kept.delete(key);
      if (kept.size >= KEEP_MAX) kept.delete(kept.keys().next().value!);
      const until = Math.min(Date.now() + KEEP_MS, goodUntil?.(value) ?? Number.POSITIVE_INFINITY);
      kept.set(key, { value, until, subjects: subjectsOf?.(key, value) ?? [] });
    }
    return value;
  }

  return {
    get(key) {
      if (!listener.hears) return undefined;
      const found = kept.get(key);
      return found && found.until >= Date.now() ? found.value : undefined;
    },
    load(key, read, goodUntil) {
      // Else a change may have come since the other call began to read, and nobody would have told.
      if (!listener.hears) return readAndKeep(key, read, goodUntil);
      const running = loads.get(key);
      if (running) return running;
      const load = readAndKeep(key, read, goodUntil).finally(() => {
        if (loads.get(key) === load) loads.delete(key);
      });
      loads.set(key, load);
      return load;
    },
    forget(key) {
      generation++;
      kept.delete(key);
      loads.delete(key);
    },
  };
}
