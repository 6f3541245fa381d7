/** For commands that work on the database of a server that may be running. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { SCHEMA_FILES } from './build-info.ts';
import type { Config } from './config.ts';
import type { ConnectionSettings } from './platform/db/connection.ts';
import { type Database, openDatabase } from './platform/db/database.ts';
import { defaultDataDir } from './platform/db/embedded/data-dir.ts';
import { findEmbeddedPostgres, startEmbeddedPostgres } from './platform/db/embedded/embedded-postgres.ts';
import { databaseUser } from './platform/db/embedded/process-user.ts';
import { explainDatabaseError } from './platform/db/first-connection.ts';
import { requireMigrated } from './platform/db/migrate.ts';
import { readMigrations } from './platform/db/migrations.ts';
import type { Logger } from './platform/log.ts';
import { StartupError } from './platform/startup-error.ts';
import { createUndo, type Undo } from './platform/undo.ts';

export interface BesideServer {
  connection: ConnectionSettings;
  db: Database;
  dataDir: string;
  log: Logger;
  undo: Undo;
}

export async function besideServer<T>(config: Config, work: (at: BesideServer) => Promise<T>): Promise<T> {
  const log = pino({ level: 'silent' });
  const undo = createUndo(log);
  const dataDir = config.dataDir ?? defaultDataDir();
  try {
    const connection: ConnectionSettings = config.databaseUrl
      ? { connectionString: config.databaseUrl }
      : await embeddedDatabase(dataDir, undo);
    const db = openDatabase(connection, log, { poolSize: 1 });
    undo.add('the connection', () => db.end());
    await requireMigrated(db, await readMigrations(SCHEMA_FILES.migrationsDir));
    return await work({ connection, db, dataDir, log, undo });
  } catch (error) {
    throw explainDatabaseError(error);
  } finally {
    await undo.run();
  }
}

/** Returns the database of the running server. If no server runs, this starts the database until the command ends. */
async function embeddedDatabase(dataDir: string, undo: Undo): Promise<ConnectionSettings> {
  const owner = await stat(join(dataDir, 'postgres')).then(
    ({ uid }) => uid,
    () => undefined,
  );
  if (owner === undefined) {
    throw new StartupError(
      `There is no database in ${dataDir}: start Oriel once, or set ORIEL_DATA_DIR or ORIEL_DATABASE_URL to the value that the server has.`,
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
