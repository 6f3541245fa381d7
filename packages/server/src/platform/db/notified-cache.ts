/**
 * Values from the database that are kept in memory until the database says that something changed. While that can
 * not be heard, nothing is kept.
 */
import type { Listener } from './listener.ts';

/** Not needed for changes, which are notified: a bound on how long anything unforeseen can last. */
const KEEP_MS = 60_000;
const KEEP_MAX = 10_000;

export interface NotifiedCache<Key, Value> {
  get(key: Key): Value | undefined;
  /** Reads the value and keeps it, at most until the time that `goodUntil` gives for it. */
  load(key: Key, read: () => Promise<Value>, goodUntil?: (value: Value) => number): Promise<Value>;
  /** For what this server itself has just changed: it does not wait for the notification. */
  forget(key: Key): void;
}

export function createNotifiedCache<Key, Value>(
  listener: Listener,
  channel: string,
): NotifiedCache<Key, Value> {
  const kept = new Map<Key, { value: Value; until: number }>();
  let generation = 0;

  listener.on(channel, () => {
    generation++;
    kept.clear();
  });

  return {
    get(key) {
      if (!listener.hears) return undefined;
      const found = kept.get(key);
      return found && found.until >= Date.now() ? found.value : undefined;
    },
    async load(key, read, goodUntil) {
      const before = generation;
      const value = await read();
      // What was read before a change arrived must not be kept after it.
      if (listener.hears && before === generation) {
        if (kept.size >= KEEP_MAX) kept.clear();
        const until = Math.min(Date.now() + KEEP_MS, goodUntil?.(value) ?? Number.POSITIVE_INFINITY);
        kept.set(key, { value, until });
      }
      return value;
    },
    forget(key) {
      generation++;
      kept.delete(key);
    },
  };
}
