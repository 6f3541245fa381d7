/** Counts how much time each name has used lately, with exponential decay. */
import { LRUCache } from 'lru-cache';

export interface UsedTime {
  add(name: string, ms: number): void;
  of(name: string): number;
}

const HALF_LIFE_MS = 60_000;
/** The limit of names. Beyond it, the name that has used nothing for the longest time is forgotten. */
const NAMES_MAX = 10_000;

export function createUsedTime(): UsedTime {
  const uses = new LRUCache<string, { ms: number; at: number }>({
    // With `max`, the cache would allocate the memory for all entries at once.
    maxSize: NAMES_MAX,
    sizeCalculation: () => 1,
  });
  const of = (name: string) => {
    const use = uses.peek(name);
    return use ? use.ms * 0.5 ** ((performance.now() - use.at) / HALF_LIFE_MS) : 0;
  };
  return {
    of,
    add: (name, ms) => void uses.set(name, { ms: of(name) + ms, at: performance.now() }),
  };
}
