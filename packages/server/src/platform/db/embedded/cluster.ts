/** The files of an embedded database. They are created at the first start and checked at every start. */
import { execFile } from 'node:child_process';
import { access, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { giveTo, type ProcessUser } from '../../processes/process-user.ts';
import { StartupError } from '../../startup-error.ts';
import { type Binaries, prepareBinaries } from './binaries.ts';
import { makeDataDir, makeSocketDir, requireReach } from './data-dir.ts';
import { databaseUser, ourName } from './process-user.ts';

export const ROLE = 'oriel';

export interface Cluster {
  user: ProcessUser;
  binaries: Binaries;
  /** PostgreSQL's own data directory. */
  pgData: string;
  socketDir: string;
}

export async function prepareCluster(dataDir: string): Promise<Cluster> {
  const user = databaseUser();
  requireReach(user, dataDir);
  await makeDataDir(dataDir);
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

/**
 * Creates the database in another folder and renames it, so that an interrupted start leaves nothing that looks like a
 * database.
 */
async function initialise({ user, binaries, pgData }: Cluster, dataDir: string) {
  await removeUnfinished(dataDir);
  if (await exists(pgData)) return;
  const fresh = await mkdtemp(`${pgData}.new-${process.pid}-`);
  await giveTo(user, fresh);
  // Asynchronous because it takes seconds, and probes must be answered in that time.
  const failure = await promisify(execFile)(
    binaries.initdb,
    ['--pgdata', fresh, '--username', ROLE, '--auth', 'peer', '--encoding', 'UTF8'].concat(
      // This locale lower-cases all of Unicode, orders by code point, and does not depend on a library of this machine.
      ['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C'],
    ),
    { ...user.ids, cwd: '/', env: processEnv() },
  ).then(
    () => undefined,
    (error: Error & { stderr?: string }) => lastLine(error.stderr || error.message),
  );
  if (failure !== undefined) {
    await rm(fresh, { recursive: true, force: true });
    throw new StartupError(`The embedded database could not be made: ${failure}`);
  }
  await rename(fresh, pgData).catch(async (error) => {
    await rm(fresh, { recursive: true, force: true });
    if (!(await exists(pgData))) throw error; // If it exists, another start was faster.
  });
}

async function removeUnfinished(dataDir: string) {
  for (const name of await readdir(dataDir)) {
    const pid = Number(/^postgres.*\.new-(\d+)/.exec(name)?.[1]);
    // We have created nothing yet, so a folder with our process id is from an earlier process, which happens in
    // containers.
    if (!pid || (pid !== process.pid && isAlive(pid))) continue;
    // An initdb that outlived its server may still be writing there. In that case, a later start removes the folder.
    await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {});
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
    if ((await readFile(file, 'utf8')) === text) continue;
    // Written to another file and renamed, because a database that another server is just starting must not read half
    // of it.
    const fresh = `${file}.new-${process.pid}`;
    await writeFile(fresh, text, { mode: 0o600 });
    await giveTo(user, fresh);
    await rename(fresh, file);
  }
}

export const processEnv = () => ({ PATH: '/usr/bin:/bin', LC_ALL: 'C' });

/**
 * Returns the last line that a program printed, ignoring PostgreSQL's hint about its log. Empty if there is no other
 * line.
 */
export const lastLine = (text: string) =>
  text
    .trim()
    .split('\n')
    .filter((line) => !/redirecting log output|HINT: {2}Future log output/.test(line))
    .at(-1) ?? '';

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
