/** A PostgreSQL of our own: initialised at first start, watched while we run, stopped with us. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '../../log.ts';
import { StartupError } from '../../startup-error.ts';
import { type ConnectionSettings, openClient } from '../connection.ts';
import { type Cluster, isAlive, lastLine, prepareCluster, processEnv, ROLE } from './cluster.ts';
import { socketDirOf } from './data-dir.ts';

export interface EmbeddedPostgres {
  connection: ConnectionSettings;
  stop(): Promise<void>;
}

/** Held by the server that this database belongs to, so that a second one on the same data dir is turned away. */
const OWNER_LOCK = 7_023_455_202;
const START_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 20_000;

export async function startEmbeddedPostgres(dataDir: string, log: Logger): Promise<EmbeddedPostgres> {
  const cluster = await prepareCluster(resolve(dataDir));
  let { postmaster, owner } = await takeOver(cluster, log);
  let stopping = false;

  const giveUp = (error: unknown) => {
    log.fatal({ err: error }, 'the embedded database is lost');
    process.exit(1);
  };

  // The claim lives as long as its connection: when that breaks, it is made again before another server can.
  const claimAgainOnEnd = () =>
    owner.once('end', async () => {
      try {
        owner = await until(
          () => stopping,
          () => claim(cluster),
        );
        claimAgainOnEnd();
      } catch (error) {
        if (!stopping) giveUp(error);
      }
    });
  claimAgainOnEnd();

  // A database that dies under a running server is started again; requests meet a 503 meanwhile.
  const restartOnExit = () =>
    postmaster.once('exit', async (code, signal) => {
      if (stopping) return;
      log.error({ code, signal }, 'the embedded database ended; starting it again');
      try {
        postmaster = await bringUp(cluster, log);
        restartOnExit();
      } catch (error) {
        giveUp(error);
      }
    });
  restartOnExit();
  await createDatabase(cluster);

  return {
    connection: connectionTo(cluster, ROLE),
    async stop() {
      stopping = true;
      await owner.end().catch(() => {});
      await stopProcess(postmaster.pid!, () => isRunning(postmaster));
      if (isRunning(postmaster)) throw new Error(`its process ${postmaster.pid} does not end`);
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

const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

const connectionTo = ({ socketDir }: Pick<Cluster, 'socketDir'>, database: string): ConnectionSettings => ({
  host: socketDir,
  port: 5432,
  user: ROLE,
  database,
});

const connect = (cluster: Pick<Cluster, 'socketDir'>, database = 'postgres'): Promise<pg.Client> =>
  openClient(connectionTo(cluster, database));

/** Of servers that start at once one gets the database, and the others are turned away. */
async function takeOver(cluster: Cluster, log: Logger) {
  for (const deadline = Date.now() + START_WITHIN_MS; ; await sleep(200)) {
    const postmaster = await bringUp(cluster, log);
    try {
      return { postmaster, owner: await claim(cluster) };
    } catch (error) {
      // Else another server took it for a leftover and ended it: see whose it is now.
      if (error instanceof StartupError || Date.now() > deadline) throw error;
    }
  }
}

/** Starts the database; one that an earlier, killed server left behind is stopped first. */
async function bringUp(cluster: Cluster, log: Logger): Promise<ChildProcess> {
  const deadline = Date.now() + START_WITHIN_MS;
  await stopLeftover(cluster, log);
  for (;;) {
    const { child, failure } = await launch(cluster);
    if (failure === undefined) return child;
    // Processes of a killed database hold on to its memory for a moment; or another server is starting it; or
    // somebody ended it, or a process of it, while it started, of which it then says nothing outside of its log.
    const said = lastLine(failure);
    const passing =
      said === '' ||
      child.signalCode !== null ||
      child.exitCode === 0 ||
      /lock file|shared memory block|another postmaster/.test(failure);
    await sleep(200);
    // Tells where another server has the database by now, which is then why ours did not start.
    await stopLeftover(cluster, log);
    if (!passing || Date.now() > deadline) {
      throw new StartupError(`The embedded database does not start: ${said || 'see its log/ folder'}`);
    }
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

async function launch(cluster: Cluster): Promise<{ child: ChildProcess; failure?: string }> {
  const { user, binaries, pgData, socketDir } = cluster;
  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: socketDir });
  // In a process group of its own: a Ctrl-C in the terminal is for the server, which then stops the database.
  const child = spawn(
    binaries.postgres,
    ['-D', pgData, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...user.ids, cwd: '/', env: processEnv(), detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let output = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-4000);
  });
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  child.once('error', (error) => {
    ended = true;
    output += String(error);
  });
  while (!ended) {
    const client = await connect(cluster).catch(() => undefined);
    await client?.end();
    if (client && !ended) return { child };
    await sleep(25);
  }
  return { child, failure: output };
}

async function claim(cluster: Cluster): Promise<pg.Client> {
  const client = await connect(cluster);
  if (await ownsLock(client)) return client;
  await client.end();
  throw inUse(cluster);
}

/** Tries again while the database can not be reached, but not where it belongs to another server. */
async function until<T>(stopped: () => boolean, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (stopped() || error instanceof StartupError) throw error;
      await sleep(50);
    }
  }
}

const ownsLock = async (client: pg.Client) =>
  (await client.query('select pg_try_advisory_lock($1) as free', [OWNER_LOCK])).rows[0].free as boolean;

const inUse = ({ pgData }: Cluster) =>
  new StartupError(
    `The data dir ${join(pgData, '..')} is in use by another running server: stop that one, or set ORIEL_DATA_DIR to another folder.`,
  );

async function stopLeftover(cluster: Cluster, log: Logger) {
  const client = await connectToLeftover(cluster);
  if (!client) return;
  try {
    // Held until it has ended, so that a server that has just started it sees that it is taken.
    if (!(await ownsLock(client))) throw inUse(cluster);
    const pid = Number((await readFile(join(cluster.pgData, 'postmaster.pid'), 'utf8')).split('\n')[0]);
    log.warn({ pid }, 'stopping the database of a server that was killed');
    await stopProcess(pid, () => isAlive(pid));
  } catch (error) {
    if (error instanceof StartupError) throw error;
    // It ended by itself, or by another's hand.
  } finally {
    await client.end().catch(() => {});
  }
}

/** Nothing where no database listens; waits for one that is still starting up or recovering. */
async function connectToLeftover(cluster: Cluster): Promise<pg.Client | undefined> {
  for (const deadline = Date.now() + START_WITHIN_MS; ; await sleep(100)) {
    try {
      return await connect(cluster);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== '57P03' || Date.now() > deadline) return undefined;
    }
  }
}

async function stopProcess(pid: number, alive: () => boolean) {
  const end = async (signal: NodeJS.Signals) => {
    if (!alive()) return;
    process.kill(pid, signal);
    for (const deadline = Date.now() + STOP_WITHIN_MS; alive() && Date.now() < deadline; ) await sleep(20);
  };
  await end('SIGINT'); // PostgreSQL's fast shutdown
  await end('SIGQUIT'); // and its immediate one, from which it recovers at the next start.
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
