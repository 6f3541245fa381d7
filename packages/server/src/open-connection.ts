/** Opens the database of the settings, for the server and for the commands. */
import { pino } from 'pino';
import type { Config } from './config.ts';
import type { ConnectionSettings } from './platform/db/connection.ts';
import { startEmbeddedPostgres } from './platform/db/embedded/embedded-postgres.ts';
import { explainIfOfDatabase } from './platform/db/first-connection.ts';
import type { Logger } from './platform/log.ts';
import type { ProcessMetrics } from './platform/processes/supervise.ts';
import { createShutdown, type Shutdown } from './platform/shutdown.ts';

/** An external database is used as it is. The embedded one is started, and `shutdown` stops it. */
export async function openConnection(
  { databaseUrl }: Config,
  {
    dataDir,
    log,
    metrics,
    shutdown,
  }: { dataDir: string; log: Logger; metrics?: ProcessMetrics; shutdown: Shutdown },
): Promise<ConnectionSettings> {
  if (databaseUrl) return { connectionString: databaseUrl };
  const postgres = await startEmbeddedPostgres(dataDir, log, metrics);
  shutdown.add('the embedded database', () => postgres.stop());
  return postgres.connection;
}

/** Runs a command, and then undoes what it has started. Its errors say what to do, so nothing is logged. */
export async function runCommand<T>(
  work: (at: { log: Logger; shutdown: Shutdown }) => Promise<T>,
): Promise<T> {
  const log = pino({ level: 'silent' });
  const shutdown = createShutdown(log);
  try {
    return await work({ log, shutdown });
  } catch (error) {
    throw explainIfOfDatabase(error);
  } finally {
    await shutdown.run();
  }
}
