import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** Holds results and files that only the benchmarks need. The product never uses this folder. */
export const cacheDir = join(root, 'node_modules', '.cache', 'oriel-bench');
