/** How long a result may be used, by the refresh keys of the cubes that it reads. */
import type { RefreshKey } from '@oriel/semantic';

export interface Freshness {
  maxAgeMs: number;
  /** What the refresh keys returned. Another answer means other data. */
  version: string[];
}

/** How long a result may be used if its cube has no refresh key. */
const MAX_AGE_MS = 2 * 60_000;
/** How often the query of a refresh key is asked, if the key does not say. */
const ASK_EVERY_MS = 10_000;

/** `ask` returns the answer of a query that is at most this old. */
export async function freshnessOf(
  keys: readonly (RefreshKey | undefined)[],
  ask: (sql: string, maxAgeMs: number) => Promise<string>,
): Promise<Freshness> {
  const version: string[] = [];
  let maxAgeMs = Number.POSITIVE_INFINITY;
  for (const key of keys) {
    const everyMs = key?.everySeconds === undefined ? undefined : key.everySeconds * 1000;
    if (key?.sql === undefined) maxAgeMs = Math.min(maxAgeMs, everyMs ?? MAX_AGE_MS);
    else version.push(await ask(key.sql, everyMs ?? ASK_EVERY_MS));
  }
  return { maxAgeMs, version };
}
