/** Our own PostgreSQL server: initialised at the first start, supervised while we run, stopped with us. */
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log.ts';
import type { Program } from '../../processes/program.ts';
import { type ProcessMetrics, type StartFailure, supervise } from '../../processes/supervise.ts';
import { StartupError } from '../../startup-error.ts';
import type { ConnectionSettings } from '../connection.ts';
import { createClaim } from './claim.ts';
import { type Cluster, lastLine, prepareCluster, processEnv, ROLE } from './cluster.ts';
import { connect, connectionTo } from './connect.ts';
import { socketDirOf } from './data-dir.ts';
import { STOP_STEPS, stopOrphan } from './orphan.ts';

export interface EmbeddedPostgres {
  connection: ConnectionSettings;
  stop(): Promise<void>;
}

export const EMBEDDED_DATABASE = 'embedded database';
const TRY_FOR_MS = 60_000;
const LOOK_EVERY_MS = 25;

export async function startEmbeddedPostgres(
  dataDir: string,
  log: Logger,
  metrics?: ProcessMetrics,
): Promise<EmbeddedPostgres> {
  const cluster = await prepareCluster(resolve(dataDir));
  const onLost = (error: Error) => {
    log.fatal({ err: error }, 'the embedded database is lost');
    process.exit(1);
  };
  const claim = createClaim(cluster, onLost);
  const database = await supervise({
    name: EMBEDDED_DATABASE,
    program: programOf(cluster),
    log,
    metrics,
    // The database keeps its own log.
    forwardsOutput: false,
    // When the main process is gone, its other processes write the reason to the log and end by themselves.
    endsGroup: false,
    prepare: () => stopOrphan(cluster, log),
    // If several servers start at once, one gets the database and the others are refused.
    isReady: async (signal) => {
      await waitUntilItAnswers(cluster, signal);
      await claim.take();
    },
    // Recovery after a crash may take any time.
    startWithinMs: Number.POSITIVE_INFINITY,
    pauses: { firstMs: 200, maxMs: 1000 },
    giveUp: (failure) => reasonToGiveUp(failure, cluster, log),
    onLost,
    stopSteps: STOP_STEPS,
    abandonSteps: STOP_STEPS,
    signalAtExit: 'SIGINT',
  }).catch(async (error) => {
    await claim.release();
    throw error;
  });
  await createDatabase(cluster);

  return {
    connection: connectionTo(cluster, ROLE),
    async stop() {
      await claim.release();
      await database.stop();
    },
  };
}

/** How to reach the database of a server that runs on this data dir; returns nothing if no database listens there. */
export async function findEmbeddedPostgres(dataDir: string): Promise<ConnectionSettings | undefined> {
  const at = { socketDir: socketDirOf(resolve(dataDir)) };
  try {
    await (await connect(at, ROLE)).end();
    return connectionTo(at, ROLE);
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  timezone: 'UTC',
  log_timezone: 'UTC',
  shared_buffers: '256MB',
  // The data directory holds a week of logs. Each day overwrites the log of the same day of the last week.
  logging_collector: 'on',
  log_filename: 'postgres-%a.log',
  log_truncate_on_rotation: 'on',
  log_rotation_size: '0',
};

function programOf({ user, binaries, pgData, socketDir }: Cluster): Program {
  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: socketDir });
  return {
    command: binaries.postgres,
    args: ['-D', pgData, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    env: processEnv(),
    user,
  };
}

async function waitUntilItAnswers(cluster: Cluster, signal: AbortSignal) {
  while (!signal.aborted) {
    const client = await connect(cluster).catch(() => undefined);
    await client?.end();
    if (client) return;
    await sleep(LOOK_EVERY_MS);
  }
}

/** Returns nothing if the problem is temporary. Then the start is tried again, for a minute. */
async function reasonToGiveUp(
  { error, exit, failingForMs }: StartFailure,
  cluster: Cluster,
  log: Logger,
): Promise<Error | undefined> {
  if (error instanceof StartupError || !exit) return error;
  // The problem is temporary if processes of a killed database still hold its memory, if another server is starting it,
  // or if it or one of its processes was killed while it started. In the last case, it reports the reason only in its
  // log.
  const said = lastLine(exit.output);
  const willPass =
    said === '' ||
    exit.signal !== null ||
    exit.code === 0 ||
    /lock file|shared memory block|another postmaster/.test(exit.output);
  if (willPass && failingForMs < TRY_FOR_MS) return undefined;
  // Throws if another server has the database by now, because then that is the reason.
  await stopOrphan(cluster, log);
  return new StartupError(`The embedded database does not start: ${said || 'see its log/ folder'}`);
}

async function createDatabase(cluster: Cluster) {
  const client = await connect(cluster);
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [ROLE]);
    if (!rowCount) await client.query(`create database ${ROLE}`);
  } finally {
    await client.end();
  }
}
