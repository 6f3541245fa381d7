/** The user that runs the engines, and the folders of files that this user reads. */
import { chmod, chown, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDataDir } from '../platform/db/embedded/data-dir.ts';
import { isRoot, nobody, type ProcessUser } from '../platform/processes/process-user.ts';

/**
 * An engine runs what people write, so it does not run as root, nor as `nobody`, who owns the embedded database. This user
 * owns nothing, and needs no entry in /etc/passwd. The number is in a range that neither Debian nor systemd gives away.
 */
const ENGINE_ID = 60_841;

/** Returns undefined for our own user. Only root can run something as another one. */
export const engineUser = (): ProcessUser | undefined =>
  isRoot() ? { name: `the user ${ENGINE_ID}`, ids: { uid: ENGINE_ID, gid: ENGINE_ID } } : undefined;

/** The folder of the files that a deployment's DuckDB reads. */
export const filesDirOf = (dataDir: string, deploymentId: number) =>
  join(dataDir, 'files', String(deploymentId));

/** Makes the folder, if it is missing, so that the engines can read it but not write to it. */
export async function makeFilesDir(
  user: ProcessUser | undefined,
  dataDir: string,
  deploymentId: number,
): Promise<string> {
  await makeDataDir(dataDir);
  const dir = filesDirOf(dataDir, deploymentId);
  const made = await mkdir(dir, { recursive: true });
  if (made === undefined && !(await isOfNobody(user, dir))) return dir;
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    // Skips links: what they lead to must stay closed.
    if (entry.isFile()) await letRead(user, join(dir, entry.name), 0o640);
  }
  await chmod(dirname(dir), user ? 0o711 : 0o700);
  await letRead(user, dir, 0o750);
  return dir;
}

/** Earlier, engines ran as `nobody`, and such a folder was for that user. */
const isOfNobody = async (user: ProcessUser | undefined, dir: string) =>
  user !== undefined && (await stat(dir)).gid === nobody()?.ids?.gid;

/** Lets the group of the engines' user read the file or folder. It stays ours. */
export async function letRead(user: ProcessUser | undefined, path: string, mode: number) {
  if (user?.ids) await chown(path, process.getuid!(), user.ids.gid);
  await chmod(path, mode);
}
