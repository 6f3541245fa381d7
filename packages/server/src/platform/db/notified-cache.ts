/**
 * Keeps values from the database in memory until the database notifies us that they changed. While notifications can
 * not be received, nothing is kept.
 */
import type { Listener } from './listener.ts';

/** Triggers notify this channel of changes to credentials, users, settings, signing keys and deployments. */
export const CREDENTIALS_CHANNEL = 'oriel_credentials';

/** Not needed for changes, because they are notified. It limits how long an unexpected wrong value can stay. */
const KEEP_MS = 60_000;
const KEEP_MAX = 10_000;

export interface NotifiedCache<Key, Value> {
  get(key: Key): Value | undefined;
  /**
   * Reads the value and keeps it, at most until the time that `goodUntil` gives for it. Calls for the same key that
   * come while it is read share the result.
   */
  load(key: Key, read: () => Promise<Value>, goodUntil?: (value: Value) => number): Promise<Value>;
}

export function createNotifiedCache<Key, Value>(
  listener: Listener,
  channel: string,
  /**
   * Returns the subjects that the value depends on, as notifications name them, for example `user:12`. A notification
   * without a subject drops all values. Without this function, every notification does.
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
    // A value that was read before a change arrived must not be kept.
    if (listener.hears && before === generation) {
      // Deleted first, so that the new entry is the last one in the order of the map.
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
      // Not shared while we do not listen: a change may have come after the other call began to read, and we would not
      // know.
      if (!listener.hears) return readAndKeep(key, read, goodUntil);
      const running = loads.get(key);
      if (running) return running;
      const load = readAndKeep(key, read, goodUntil).finally(() => {
        if (loads.get(key) === load) loads.delete(key);
      });
      loads.set(key, load);
      return load;
    },
  };
}
