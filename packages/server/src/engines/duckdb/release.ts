/**
 * Gives memory back to DuckDB. The driver frees results when JavaScript collects its garbage, and JavaScript does not
 * see how much memory a result holds.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const COLLECT_AFTER_BYTES = 32 * 1024 * 1024;

let held = 0;

/** Counts memory that is not used any more, but still held. */
export function noteUnused(bytes: number) {
  held += bytes;
  if (held > COLLECT_AFTER_BYTES) releaseAll();
}

/** Takes a few milliseconds. */
export function releaseAll() {
  held = 0;
  collect();
}
