/** Values that are kept in memory, up to a number of bytes. The one that nobody used for longest makes way. */
export interface Kept<Value> {
  find(key: string): Value | undefined;
  /** `bytes` is what the value takes, about. */
  add(key: string, value: Value, bytes: number): void;
  remove(key: string): void;
}

/** With `keepsNewest`, a value that is larger than everything together is kept until the next one comes. */
export function createKept<Value>(bytesMax: number, { keepsNewest = false } = {}): Kept<Value> {
  const entries = new Map<string, { value: Value; bytes: number }>();
  let bytes = 0;

  function remove(key: string) {
    const entry = entries.get(key);
    if (!entry) return;
    entries.delete(key);
    bytes -= entry.bytes;
  }

  return {
    find(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      // The last one in the order of the map is the one that was used last.
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    add(key, value, size) {
      remove(key);
      if (size > bytesMax && !keepsNewest) return;
      entries.set(key, { value, bytes: size });
      bytes += size;
      for (const oldest of entries.keys()) {
        if (bytes <= bytesMax || oldest === key) break;
        remove(oldest);
      }
    },
    remove,
  };
}
