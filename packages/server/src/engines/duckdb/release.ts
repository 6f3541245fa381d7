/**
 * Gives memory back to DuckDB. The driver frees results when JavaScript collects its garbage, and JavaScript does not
 * see how much memory a result holds.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DuckDBInstance } from '@duckdb/node-api';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const COLLECT_AFTER_BYTES = 32 * 1024 * 1024;

let held = 0;

/** Counts memory that is not used any more, but still held. */
export function noteUnused(bytes: number) {
  held += bytes;
  if (held > COLLECT_AFTER_BYTES) releaseAll();
}

/**
 * Makes the allocator of DuckDB give back to the system what it keeps for the next queries, as it does whenever an
 * instance is opened. Otherwise a query that has used up the memory would leave too little for others for a while.
 */
export async function giveBackAll() {
  await new Promise((resolve) => setImmediate(resolve));
  releaseAll();
  try {
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    instance.closeSync();
  } catch {
    // There is not even memory for this. The thread of the allocator gives it back soon.
  }
}

/** Takes a few milliseconds. */
export function releaseAll() {
  held = 0;
  collect();
}
