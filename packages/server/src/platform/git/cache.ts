/** Caches of values that never change, such as parsed objects. */
import { LRUCache } from 'lru-cache';

export interface Cache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** A value that is heavier than the whole cache stays in it alone. The functions need no `this`. */
export function createCache<Value extends object>(
  maxWeight: number,
  weightOf: (value: Value) => number,
): Cache<Value> {
  const cache = new LRUCache<string, Value>({
    maxSize: maxWeight,
    sizeCalculation: (value) => Math.min(maxWeight, weightOf(value)),
  });
  return {
    get: (key) => cache.get(key),
    set: (key, value) => void cache.set(key, value),
  };
}

/** The part of a shared cache that belongs to one repository. */
export const partOf = <Value>(cache: Cache<Value>, repositoryId: number): Cache<Value> => ({
  get: (key) => cache.get(`${repositoryId}:${key}`),
  set: (key, value) => cache.set(`${repositoryId}:${key}`, value),
});
