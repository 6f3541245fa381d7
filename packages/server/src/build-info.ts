/** What this build is, and what comes with it. Bundled, this file stands in `dist`, beside `src`. */
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;
export const MIGRATIONS_DIR = join(import.meta.dirname, '..', 'migrations');
