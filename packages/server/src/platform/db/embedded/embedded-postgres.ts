/** A PostgreSQL of our own: initialised at first start, watched while we run, stopped with us. */
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
import { STOP_STEPS, stopLeftover } from './leftover.ts';

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
    // It keeps a log of its own.
    forwardsOutput: false,
    // Its other processes end by themselves when the main one is gone, after they have written why to that log.
    endsGroup: false,
    prepare: () => stopLeftover(cluster, log),
    // Of servers that start at once one gets the database, and the others are turned away.
    isReady: async (signal) => {
      await waitUntilItAnswers(cluster, signal);
      await claim.take();
    },
    // Recovery after a crash takes as long as it takes.
    startWithinMs: Number.POSITIVE_INFINITY,
    pauses: { firstMs: 200, maxMs: 1000 },
    giveUp: (failure) => reasonToGiveUp(failure, cluster, log),
    onLost,
    stopSteps: STOP_STEPS,
    abandonSteps: STOP_STEPS,
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

/** How to reach the database of a server that runs on this data dir; nothing where none listens. */
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
  // A week of logs in the data directory, each day overwriting that of the week before.
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

/** Nothing if the reason will pass: then the start is tried again, for a minute. */
async function reasonToGiveUp(
  { error, exit, failingForMs }: StartFailure,
  cluster: Cluster,
  log: Logger,
): Promise<Error | undefined> {
  if (error instanceof StartupError || !exit) return error;
  // Processes of a killed database hold on to its memory for a moment; or another server is starting it; or
  // somebody ended it, or a process of it, while it started, of which it then says nothing outside of its log.
  const said = lastLine(exit.output);
  const willPass =
    said === '' ||
    exit.signal !== null ||
    exit.code === 0 ||
    /lock file|shared memory block|another postmaster/.test(exit.output);
  if (willPass && failingForMs < TRY_FOR_MS) return undefined;
  // Tells whether another server has the database by now, which is then why ours did not start.
  await stopLeftover(cluster, log);
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
