/** Copies of programs below the data dir, for users who cannot reach the installed ones. */
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** An unfinished copy of this age was left behind by a process that was killed. */
const LEFT_BEHIND_MS = 60 * 60_000;

/**
 * Fills the folder if it is not there yet, so that every user can read and run what is in it. It appears as a whole:
 * several servers may do this at the same time, and one that is killed leaves nothing that looks complete.
 */
export async function copyOnce(target: string, fill: (folder: string) => Promise<void>): Promise<void> {
  if (await isComplete(target)) return;
  await mkdir(dirname(target), { recursive: true });
  await removeLeftBehind(target);
  const fresh = await mkdtemp(`${target}.new-${process.pid}-`);
  try {
    await fill(fresh);
    await writeFile(join(fresh, 'complete'), '');
    // Another user runs them, so neither our umask nor the modes of the installed files may decide.
    await promisify(execFile)('chmod', ['-R', 'u+w,go-w,a+rX', fresh]);
    await putInPlace(fresh, target);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function putInPlace(fresh: string, target: string) {
  try {
    await rename(fresh, target);
  } catch (error) {
    // Another server was faster, and may run its copy by now.
    if (await isComplete(target)) return;
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await rm(target, { recursive: true, force: true });
    await rename(fresh, target);
  }
}

const isComplete = (target: string) =>
  access(join(target, 'complete')).then(
    () => true,
    () => false,
  );

async function removeLeftBehind(target: string) {
  for (const name of await readdir(dirname(target))) {
    if (!name.startsWith(`${basename(target)}.new-`)) continue;
    const path = join(dirname(target), name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < Date.now() - LEFT_BEHIND_MS) await rm(path, { recursive: true, force: true });
  }
}
