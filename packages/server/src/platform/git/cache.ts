/** Keeps what was used last, up to a total weight. Only for values that never change, such as parsed objects. */
export interface Cache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

export function createCache<Value>(maxWeight: number, weightOf: (value: Value) => number): Cache<Value> {
  // A Map keeps the order in which its keys were added: the first one was not used for the longest time.
  const kept = new Map<string, Value>();
  let weight = 0;

  function drop(key: string) {
    const value = kept.get(key);
    if (value === undefined) return;
    kept.delete(key);
    weight -= weightOf(value);
  }

  return {
    get(key) {
      const value = kept.get(key);
      if (value === undefined) return undefined;
      kept.delete(key);
      kept.set(key, value);
      return value;
    },
    set(key, value) {
      drop(key);
      kept.set(key, value);
      weight += weightOf(value);
      while (weight > maxWeight && kept.size > 1) drop(kept.keys().next().value!);
    },
  };
}

/** The part of a shared cache that belongs to one repository. */
export const partOf = <Value>(cache: Cache<Value>, repositoryId: number): Cache<Value> => ({
  get: (key) => cache.get(`${repositoryId}:${key}`),
  set: (key, value) => cache.set(`${repositoryId}:${key}`, value),
});
