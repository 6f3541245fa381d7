/** For commands that work on the database of a server that may be running. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SCHEMA_FILES } from './build-info.ts';
import type { Config } from './config.ts';
import { openConnection, runCommand } from './open-connection.ts';
import { requireFinished } from './platform/db/backup/unfinished.ts';
import type { ConnectionSettings } from './platform/db/connection.ts';
import { type Database, openDatabase } from './platform/db/database.ts';
import { defaultDataDir } from './platform/db/embedded/data-dir.ts';
import { findEmbeddedPostgres } from './platform/db/embedded/embedded-postgres.ts';
import { databaseUser } from './platform/db/embedded/process-user.ts';
import { requireReachable } from './platform/db/first-connection.ts';
import { requireMigrated } from './platform/db/migrate.ts';
import { readMigrations } from './platform/db/migrations.ts';
import type { Logger } from './platform/log.ts';
import type { Shutdown } from './platform/shutdown.ts';
import { StartupError } from './platform/startup-error.ts';

export interface BesideServer {
  connection: ConnectionSettings;
  db: Database;
  dataDir: string;
  log: Logger;
  shutdown: Shutdown;
}

export function besideServer<T>(config: Config, work: (at: BesideServer) => Promise<T>): Promise<T> {
  const dataDir = config.dataDir ?? defaultDataDir();
  return runCommand(async ({ log, shutdown }) => {
    requireFinished(dataDir);
    const running = config.databaseUrl ? undefined : await findRunning(dataDir);
    const connection = running ?? (await openConnection(config, { dataDir, log, shutdown }));
    await requireReachable(connection);
    const db = openDatabase(connection, log, { poolSize: 1 });
    shutdown.add('the connection', () => db.end());
    await requireMigrated(db, await readMigrations(SCHEMA_FILES.migrationsDir));
    return work({ connection, db, dataDir, log, shutdown });
  });
}

/** The embedded database of the running server. If no server runs, the command starts the database itself. */
async function findRunning(dataDir: string): Promise<ConnectionSettings | undefined> {
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
  return findEmbeddedPostgres(dataDir);
}
