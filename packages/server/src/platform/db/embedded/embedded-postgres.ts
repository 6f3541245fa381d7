/** A PostgreSQL of our own: initialised at first start, watched while we run, stopped with us. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../../log.ts';
import { StartupError } from '../../startup-error.ts';
import { type ConnectionSettings, clientConfig } from '../database.ts';
import { type Binaries, prepareBinaries } from './binaries.ts';
import { makeDataDir, makeSocketDir, requireReach } from './data-dir.ts';
import { databaseUser, giveTo, ourName, type ProcessUser } from './process-user.ts';

export interface EmbeddedPostgres {
  connection: ConnectionSettings;
  stop(): Promise<void>;
}

const ROLE = 'oriel';
/** Held by the server that this database belongs to, so that a second one on the same data dir is turned away. */
const OWNER_LOCK = 7_023_455_202;
const START_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 20_000;

interface Cluster {
  user: ProcessUser;
  binaries: Binaries;
  /** PostgreSQL's own data directory. */
  pgData: string;
  socketDir: string;
}

export async function startEmbeddedPostgres(dataDir: string, log: Logger): Promise<EmbeddedPostgres> {
  const cluster = await prepareCluster(resolve(dataDir));
  let postmaster = await bringUp(cluster, log);
  let owner = await claim(cluster);
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
      await stopProcess(
        postmaster.pid!,
        () => postmaster.exitCode === null && postmaster.signalCode === null,
      );
    },
  };
}

const connectionTo = ({ socketDir }: Cluster, database: string): ConnectionSettings => ({
  host: socketDir,
  port: 5432,
  user: ROLE,
  database,
});

async function connect(cluster: Cluster, database = 'postgres'): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(connectionTo(cluster, database)));
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function prepareCluster(dataDir: string): Promise<Cluster> {
  const user = databaseUser();
  await makeDataDir(dataDir);
  requireReach(user, dataDir);
  const binaries = await prepareBinaries(user, dataDir);
  const cluster = {
    user,
    binaries,
    pgData: join(dataDir, 'postgres'),
    socketDir: await makeSocketDir(user, dataDir),
  };
  await initialise(cluster, dataDir);
  await requireMajorVersion(cluster);
  await writeAccessRules(cluster);
  return cluster;
}

/** Made beside and then renamed, so that a start that is cut off leaves nothing that looks like a database. */
async function initialise({ user, binaries, pgData }: Cluster, dataDir: string) {
  await removeLeftovers(dataDir);
  if (await exists(pgData)) return;
  const fresh = `${pgData}.new-${process.pid}`;
  await mkdir(fresh, { mode: 0o700 });
  await giveTo(user, fresh);
  const made = spawnSync(
    binaries.initdb,
    ['--pgdata', fresh, '--username', ROLE, '--auth', 'peer', '--encoding', 'UTF8'].concat(
      // Lower-cases all of Unicode, orders by code point, and depends on no library of this machine.
      ['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C'],
    ),
    { ...user.ids, cwd: '/', env: processEnv(), encoding: 'utf8' },
  );
  if (made.status !== 0) {
    await rm(fresh, { recursive: true, force: true });
    throw new StartupError(
      `The embedded database could not be made: ${lastLine(made.stderr || String(made.error))}`,
    );
  }
  await rename(fresh, pgData).catch(async (error) => {
    await rm(fresh, { recursive: true, force: true });
    if (!(await exists(pgData))) throw error; // Else another start was faster.
  });
}

async function removeLeftovers(dataDir: string) {
  for (const name of await readdir(dataDir)) {
    const pid = /^postgres.*\.new-(\d+)$/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) await rm(join(dataDir, name), { recursive: true, force: true });
  }
}

async function requireMajorVersion({ pgData, binaries }: Cluster) {
  const version = Number(await readFile(join(pgData, 'PG_VERSION'), 'utf8'));
  if (version === binaries.majorVersion) return;
  throw new StartupError(
    `The data dir holds a PostgreSQL ${version} database, and this Oriel brings PostgreSQL ${binaries.majorVersion}: see "Upgrade" in docs/operating.md.`,
  );
}

/** Only the operating-system user that the server runs as may connect, and only through the socket. */
async function writeAccessRules({ pgData, user }: Cluster) {
  const files = {
    'pg_hba.conf': 'local all oriel peer map=oriel\n',
    'pg_ident.conf': `oriel "${ourName()}" ${ROLE}\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    const file = join(pgData, name);
    await writeFile(file, text, { mode: 0o600 });
    await giveTo(user, file);
  }
}

/** Starts the database; one that an earlier, killed server left behind is stopped first. */
async function bringUp(cluster: Cluster, log: Logger): Promise<ChildProcess> {
  const deadline = Date.now() + START_WITHIN_MS;
  await stopLeftover(cluster, log);
  for (;;) {
    const { child, failure } = await launch(cluster);
    if (!failure) return child;
    // Processes of a killed database hold on to its memory for a moment, or another server is starting it.
    const passing = /lock file|shared memory block|another postmaster/.test(failure);
    if (!passing || Date.now() > deadline) {
      throw new StartupError(`The embedded database does not start: ${lastLine(failure)}`);
    }
    await sleep(200);
    await stopLeftover(cluster, log);
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
  const free = await ownsLock(client);
  await client.end();
  if (!free) throw inUse(cluster);
  const pid = Number((await readFile(join(cluster.pgData, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  log.warn({ pid }, 'stopping the database of a server that was killed');
  await stopProcess(pid, () => isAlive(pid));
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

const processEnv = () => ({ PATH: '/usr/bin:/bin', LC_ALL: 'C' });

const lastLine = (text: string) => text.trim().split('\n').at(-1) ?? '';

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
