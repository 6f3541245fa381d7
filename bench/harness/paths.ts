import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** Results, and what only the benchmarks need. Nothing of the product looks here. */
export const cacheDir = join(root, 'node_modules', '.cache', 'oriel-bench');
