/** Results that are kept in memory, and for how long. */
import type { Column } from '../../engines/engine.ts';
import { createKept } from './kept.ts';

export interface KeptResult {
  readonly columns: readonly Column[];
  /** The text of one JSON array. */
  readonly rows: Buffer;
  readonly isCapped: boolean;
  /** When the data source was asked. */
  readonly at: Date;
}

export interface KeptResults {
  find(key: string, maxAgeMs: number): KeptResult | undefined;
  add(key: string, result: KeptResult): void;
}

/** What an entry costs beside its rows. */
const BASE_BYTES = 500;

export function createKeptResults(bytesMax: number): KeptResults {
  const kept = createKept<KeptResult>(bytesMax);
  return {
    find(key, maxAgeMs) {
      const result = kept.find(key);
      if (!result || Date.now() - result.at.getTime() <= maxAgeMs) return result;
      kept.remove(key);
      return undefined;
    },
    add: (key, result) => kept.add(key, result, result.rows.length + BASE_BYTES),
  };
}
