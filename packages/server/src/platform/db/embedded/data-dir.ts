/** Finds the folder where the embedded database keeps its files, and checks that it can be used. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, chmod, constants, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { canReach, giveTo, isRoot, type ProcessUser } from '../../processes/process-user.ts';
import { StartupError } from '../../startup-error.ts';
import { databaseUser } from './process-user.ts';

const shortHash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 10);

/**
 * Returns `.oriel` in the current folder. If we are root and the database's user cannot enter that folder, returns a
 * folder under /var/lib.
 */
export function defaultDataDir(): string {
  const here = process.cwd();
  if (!isRoot() || canReach(databaseUser(), here)) return join(here, '.oriel');
  return join('/var/lib/oriel', `${basename(here)}-${shortHash(here)}`);
}

export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    // If we are root, others may pass through the folder, which the database's user needs, but may not list it.
    const made = await mkdir(dataDir, { recursive: true });
    // Set explicitly, because the umask may be stricter or less strict than what the database needs.
    for (let dir = dataDir; made && dir.length >= made.length; dir = dirname(dir)) {
      await chmod(dir, isRoot() ? 0o711 : 0o700);
    }
    await access(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new StartupError(
      `The data dir ${dataDir} cannot be written to (${reason}): set ORIEL_DATA_DIR to a folder that can, or change its owner.`,
    );
  }
}

/** Throws if the user cannot reach the folder. Called before it is created, so that no useless folder is left. */
export function requireReach(user: ProcessUser, dataDir: string) {
  let existing = dataDir;
  while (!existsSync(existing)) existing = dirname(existing);
  if (canReach(user, existing)) return;
  throw new StartupError(
    `The embedded database runs as ${user.name}, who cannot reach the data dir ${dataDir}: set ORIEL_DATA_DIR to a folder that ${user.name} can reach, or do not run Oriel as root.`,
  );
}

/** The path of a Unix socket has at most 107 bytes on Linux and 103 on macOS. */
const SOCKET_PATH_MAX = 103;
const SOCKET_NAME = '/.s.PGSQL.5432';

export function socketDirOf(dataDir: string): string {
  const inDataDir = join(resolve(dataDir), 'run');
  const fits = Buffer.byteLength(inDataDir + SOCKET_NAME) <= SOCKET_PATH_MAX;
  return fits ? inDataDir : join(tmpdir(), `oriel-${shortHash(resolve(dataDir))}`);
}

/** Creates a folder that only the database's user can enter, so that the file system decides who can connect. */
export async function makeSocketDir(user: ProcessUser, dataDir: string): Promise<string> {
  const dir = socketDirOf(dataDir);
  await mkdir(dir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const stat = await lstat(dir);
  const owners = [process.getuid?.(), user.ids?.uid];
  if (!stat.isDirectory() || !owners.includes(stat.uid) || (stat.mode & 0o077) !== 0) {
    throw new StartupError(`The folder ${dir} belongs to somebody else or is open to others: remove it.`);
  }
  await giveTo(user, dir);
  return dir;
}
