/** `npm run admin-key`: another API key for an admin who lost theirs, made on the machine of the database. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { SCHEMA_FILES } from './build-info.ts';
import type { Config } from './config.ts';
import { addAdminKey } from './domains/installation/index.ts';
import type { ConnectionSettings } from './platform/db/connection.ts';
import { openDatabase } from './platform/db/database.ts';
import { defaultDataDir } from './platform/db/embedded/data-dir.ts';
import { findEmbeddedPostgres, startEmbeddedPostgres } from './platform/db/embedded/embedded-postgres.ts';
import { databaseUser } from './platform/db/embedded/process-user.ts';
import { explainDatabaseError } from './platform/db/first-connection.ts';
import { requireMigrated } from './platform/db/migrate.ts';
import { readMigrations } from './platform/db/migrations.ts';
import { StartupError } from './platform/startup-error.ts';
import { createUndo, type Undo } from './platform/undo.ts';

const USAGE = 'Usage: npm run admin-key [-- --user <username or email of an admin>]';

export async function makeAdminKey(
  config: Config,
  args: string[],
  /** Called just before the key is kept. */
  show: (username: string, apiKey: string) => void,
): Promise<void> {
  const log = pino({ level: 'silent' });
  const user = readUser(args);
  const undo = createUndo(log);
  try {
    const connection: ConnectionSettings = config.databaseUrl
      ? { connectionString: config.databaseUrl }
      : await embeddedDatabase(config.dataDir ?? defaultDataDir(), undo);
    const db = openDatabase(connection, log, { poolSize: 1 });
    undo.add('the connection', () => db.end());
    await requireMigrated(db, await readMigrations(SCHEMA_FILES.migrationsDir));
    await addAdminKey(db, { user, show });
  } catch (error) {
    throw explainDatabaseError(error);
  } finally {
    await undo.run();
  }
}

function readUser(args: string[]): string | undefined {
  try {
    return parseArgs({ args, options: { user: { type: 'string' } } }).values.user;
  } catch {
    throw new StartupError(USAGE);
  }
}

/** That of the server that runs; where none does, it is started for this moment. */
async function embeddedDatabase(dataDir: string, undo: Undo): Promise<ConnectionSettings> {
  const owner = await stat(join(dataDir, 'postgres')).then(
    ({ uid }) => uid,
    () => undefined,
  );
  if (owner === undefined) {
    throw new StartupError(
      `There is no database in ${dataDir}: start Oriel once, or set ORIEL_DATA_DIR or ORIEL_DATABASE_URL to those of the server.`,
    );
  }
  if (owner !== (databaseUser().ids?.uid ?? process.getuid?.())) {
    throw new StartupError(
      `The database in ${dataDir} belongs to another user: run this as the user of the server.`,
    );
  }
  const running = await findEmbeddedPostgres(dataDir);
  if (running) return running;
  const postgres = await startEmbeddedPostgres(dataDir, pino({ level: 'silent' }));
  undo.add('the embedded database', () => postgres.stop());
  return postgres.connection;
}
