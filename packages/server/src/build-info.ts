/** What this build is, and what comes with it. Bundled, this file stands in `dist`, beside `src`. */
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;

/** The build gathers the functions of `src` in one file in `dist`. */
export const SCHEMA_FILES = {
  migrationsDir: join(import.meta.dirname, '..', 'migrations'),
  functionsDir: import.meta.dirname,
  version: VERSION,
};
