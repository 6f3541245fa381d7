/** The files of all deployments, for backups. */
import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchiveWriter } from '../platform/db/backup/archive.ts';
import { StartupError } from '../platform/startup-error.ts';
import { syncFolder } from '../platform/sync-folder.ts';
import { engineUser, letRead, makeFilesDir } from './engine-user.ts';

const PART_BYTES = 256 * 1024;
const DEPLOYMENT_ID = /^[1-9]\d{0,15}$/;

const filesDir = (dataDir: string) => join(dataDir, 'files');

const entriesOf = (dir: string) =>
  readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new StartupError(`The folder ${dir} cannot be read (${error.code}).`);
  });

/** As paths below the folder of all files. Links are left out, as queries do not follow them. */
async function listStoredFiles(dataDir: string): Promise<string[]> {
  const files: string[] = [];
  for (const { name } of await entriesOf(filesDir(dataDir))) {
    if (!DEPLOYMENT_ID.test(name)) continue;
    const inside = await entriesOf(join(filesDir(dataDir), name));
    files.push(...inside.filter((entry) => entry.isFile()).map((entry) => `${name}/${entry.name}`));
  }
  return files.sort();
}

export const hasStoredFiles = async (dataDir: string) => (await listStoredFiles(dataDir)).length > 0;

/** The largest id of a deployment that has a folder, or 0. */
export async function lastStoredFolder(dataDir: string): Promise<number> {
  const names = (await entriesOf(filesDir(dataDir))).map(({ name }) => name);
  return Math.max(0, ...names.filter((name) => DEPLOYMENT_ID.test(name)).map(Number));
}

/** Returns how many there are. */
export async function dumpFiles(dataDir: string, archive: ArchiveWriter): Promise<number> {
  const files = await listStoredFiles(dataDir);
  for (const file of files) await dumpFile(join(filesDir(dataDir), file), file, archive);
  return files.length;
}

async function dumpFile(path: string, file: string, archive: ArchiveWriter) {
  const unreadable = (why: string) => new StartupError(`The file ${path} cannot be backed up: ${why}.`);
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error) => {
    throw unreadable(error.message);
  });
  try {
    const before = await handle.stat();
    for (let position = 0; ; ) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(PART_BYTES), 0, PART_BYTES, position);
      if (bytesRead || !position) await archive.part({ file }, buffer.subarray(0, bytesRead));
      if (!bytesRead) break;
      position += bytesRead;
    }
    const after = await handle.stat();
    if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) {
      throw unreadable('it was changed in the meantime; replace files by renaming others');
    }
  } finally {
    await handle.close();
  }
}

export interface FileLoader {
  take(file: string, data: Buffer): Promise<void>;
  /** Call it at the end: it throws if another number of files was written. */
  finish(expected: number): Promise<void>;
  /** Call it if it was not finished. */
  close(): Promise<void>;
}

/**
 * Writes files from parts that follow one another, so that the engines can read them. `onCreate` gets the path of each
 * file as soon as it exists.
 */
export function createFileLoader(dataDir: string, onCreate: (path: string) => void): FileLoader {
  const folders = new Set<string>();
  let count = 0;
  let opened: { file: string; handle: FileHandle } | undefined;
  const close = async () => {
    const { handle } = opened ?? {};
    opened = undefined;
    await handle?.close();
  };
  const complete = async () => {
    await opened?.handle.sync();
    await close();
  };
  const create = async (file: string) => {
    const user = engineUser();
    const { deploymentId, name } = requireFileName(file);
    const folder = await makeFilesDir(user, dataDir, deploymentId);
    const path = join(folder, name);
    opened = { file, handle: await open(path, 'wx') };
    onCreate(path);
    await letRead(user, path, 0o640);
    folders.add(folder);
    count++;
  };
  return {
    async take(file, data) {
      try {
        if (opened?.file !== file) {
          await complete();
          await create(file);
        }
        await opened!.handle.appendFile(data);
      } catch (error) {
        throw unwritable(file, error);
      }
    },
    async finish(expected) {
      await complete();
      for (const folder of folders) await syncFolder(folder);
      if (count === expected) return;
      throw new StartupError(
        `The backup says that it has ${expected} files, but it has ${count}: it is damaged.`,
      );
    },
    close,
  };
}

const unwritable = (file: string, error: unknown) =>
  error instanceof StartupError
    ? error
    : new StartupError(`The file ${file} cannot be restored: ${(error as Error).message}.`, {
        cause: error,
      });

function requireFileName(file: string) {
  const [deploymentId = '', name = '', ...rest] = file.split('/');
  const isName = name !== '' && name !== '.' && name !== '..' && !name.includes('\0');
  if (!DEPLOYMENT_ID.test(deploymentId) || !isName || rest.length) {
    throw new StartupError(`The backup holds a file with an impossible name, ${file}: it is damaged.`);
  }
  return { deploymentId: Number(deploymentId), name };
}
