/** The user that runs the engines, and the folders of files that this user reads. */
import { chmod, chown, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDataDir } from '../platform/db/embedded/data-dir.ts';
import { isRoot, nobody, type ProcessUser } from '../platform/processes/process-user.ts';

/** An engine runs what people write, so it does not run as root. Returns undefined for our own user. */
export function engineUser(): ProcessUser | undefined {
  if (!isRoot()) return undefined;
  const user = nobody();
  if (!user) throw new Error('the engines do not run as root, and there is no user `nobody` for them');
  return user;
}

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
  if (made === undefined) return dir;
  await chmod(dirname(dir), user ? 0o711 : 0o700);
  await letRead(user, dir, 0o750);
  return dir;
}

/** The file or folder stays ours. */
export async function letRead(user: ProcessUser | undefined, path: string, mode: number) {
  if (user?.ids) await chown(path, process.getuid!(), user.ids.gid);
  await chmod(path, mode);
}
