/** Caches the results of queries in memory. */
import { LRUCache } from 'lru-cache';
import type { Column } from '../../engines/engine.ts';

export interface CachedResult {
  readonly columns: readonly Column[];
  /** The text of one JSON array. */
  readonly rows: Buffer;
  readonly rowCount: number;
  readonly isCapped: boolean;
  /** When the data source was asked. */
  readonly at: Date;
}

export interface ResultCache {
  find(key: string, maxAgeMs: number): CachedResult | undefined;
  add(key: string, result: CachedResult): void;
}

/** What an entry costs beside its rows. */
const BASE_BYTES = 500;

export function createResultCache(bytesMax: number): ResultCache {
  const cache = new LRUCache<string, CachedResult>({
    maxSize: bytesMax,
    sizeCalculation: ({ rows }) => rows.length + BASE_BYTES,
  });
  return {
    find(key, maxAgeMs) {
      const result = cache.get(key);
      if (!result || Date.now() - result.at.getTime() <= maxAgeMs) return result;
      cache.delete(key);
      return undefined;
    },
    add: (key, result) => void cache.set(key, result),
  };
}
