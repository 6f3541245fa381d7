/** Writes, lists and deletes the files of a deployment that its DuckDB reads. */
import { randomUUID } from 'node:crypto';
import { lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../platform/sync-folder.ts';
import { FILES_MAX, tableOf } from './duckdb/list-files.ts';
import { engineUser, filesDirOf, letRead, makeFilesDir } from './engine-user.ts';

export const DATA_FILES_MAX = FILES_MAX;

export interface WrittenFile {
  name: string;
  /** The name of its table in the schema `files`. */
  table: string;
  size: number;
  changedAt: Date;
}

/** A complete file that is not a table yet, because it does not have its final name. */
export interface WaitingFile {
  /** Replaces a file of this name, if there is one, atomically. Idempotent. */
  put(): Promise<void>;
  /** Removes what is left, if it was not put. */
  discard(): Promise<void>;
}

/** Names of files that are being written begin with a dot, which those of tables cannot. */
const WAITING = '.upload-';
/** The age from which a waiting file counts as left behind by a stopped server. */
const LEFT_MS = 60 * 60_000;

export async function listDataFiles(dataDir: string, deploymentId: number): Promise<WrittenFile[]> {
  const dir = filesDirOf(dataDir, deploymentId);
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const files: WrittenFile[] = [];
  for (const name of names.sort()) {
    const table = tableOf(name);
    // `lstat`, because a link could lead out of the folder.
    const stat = table === undefined ? undefined : await lstat(join(dir, name)).catch(() => undefined);
    if (table !== undefined && stat?.isFile())
      files.push({ name, table, size: stat.size, changedAt: stat.mtime });
  }
  return files;
}

/** Writes the whole file beside the others, so that a full disk or a caller who leaves changes no table. */
export async function writeDataFile(
  dataDir: string,
  deploymentId: number,
  name: string,
  data: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<WaitingFile> {
  const user = engineUser();
  const dir = await makeFilesDir(user, dataDir, deploymentId);
  await removeLeft(dir);
  const path = join(dir, `${WAITING}${randomUUID()}`);
  const discard = () => rm(path, { force: true });
  try {
    const handle = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of data) {
        signal.throwIfAborted();
        await handle.write(chunk);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await letRead(user, path, 0o640);
  } catch (error) {
    await discard();
    throw error;
  }
  let isPut = false;
  return {
    discard,
    async put() {
      if (isPut) return;
      await rename(path, join(dir, name));
      isPut = true;
      await syncFolder(dir);
    },
  };
}

export async function deleteDataFile(dataDir: string, deploymentId: number, name: string) {
  const dir = filesDirOf(dataDir, deploymentId);
  await rm(join(dir, name), { force: true });
  await syncFolder(dir);
}

async function removeLeft(dir: string) {
  for (const name of await readdir(dir)) {
    if (!name.startsWith(WAITING)) continue;
    const stat = await lstat(join(dir, name)).catch(() => undefined);
    if (stat && Date.now() - stat.mtimeMs > LEFT_MS) await rm(join(dir, name), { force: true });
  }
}
