/**
 * The version of this build, and the files that belong to it. In the bundle, this file is in `dist`, which is next to
 * `src`.
 */
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;

/** The data model of the demo, a folder for each branch. */
export const DEMO_MODEL_DIR = join(import.meta.dirname, '..', 'models', 'demo');

/** The OpenAPI document, which the build makes: that takes a second, and would delay every start. */
export const API_DOCUMENT = join(import.meta.dirname, '..', 'dist', 'openapi.json');

/** The program of an engine's process, which the build makes. */
export const ENGINE_SCRIPT = join(import.meta.dirname, '..', 'dist', 'engine.js');

/** The embedded page, which the build makes. */
export const VIEWER_DIR = join(import.meta.dirname, '..', 'dist', 'viewer');

/** The app, which the build makes. */
export const APP_DIR = join(import.meta.dirname, '..', 'dist', 'app');

/** The build collects the SQL functions of `src` in one file in `dist`. */
export const SCHEMA_FILES = {
  migrationsDir: join(import.meta.dirname, '..', 'migrations'),
  functionsDir: import.meta.dirname,
  version: VERSION,
};
