/** The files of all deployments, for backups. */
import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchiveWriter } from '../platform/db/backup/archive.ts';
import { StartupError } from '../platform/startup-error.ts';
import { engineUser, letRead, makeFilesDir } from './engine-user.ts';

const PART_BYTES = 256 * 1024;
const DEPLOYMENT_ID = /^[1-9]\d{0,15}$/;

const filesDir = (dataDir: string) => join(dataDir, 'files');

const entriesOf = (dir: string) =>
  readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new StartupError(`The folder ${dir} can not be read (${error.code}).`);
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
  const unreadable = (why: string) => new StartupError(`The file ${path} can not be backed up: ${why}.`);
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
  /** The paths of the files that it has made. */
  created: string[];
  take(file: string, data: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** Writes files from parts that follow one another, so that the engines can read them. */
export function createFileLoader(dataDir: string): FileLoader {
  const created: string[] = [];
  let opened: { file: string; handle: FileHandle } | undefined;
  const close = async () => {
    await opened?.handle.close();
    opened = undefined;
  };
  return {
    created,
    async take(file, data) {
      if (opened?.file !== file) {
        await close();
        const { path, handle } = await createFile(dataDir, file);
        created.push(path);
        opened = { file, handle };
      }
      await opened.handle.appendFile(data);
    },
    close,
  };
}

async function createFile(dataDir: string, file: string) {
  const [deploymentId = '', name = '', ...rest] = file.split('/');
  const isName = name !== '' && name !== '.' && name !== '..' && !name.includes('\0');
  if (!DEPLOYMENT_ID.test(deploymentId) || !isName || rest.length) {
    throw new StartupError(`The backup holds a file with an impossible name, ${file}: it is damaged.`);
  }
  const user = engineUser();
  const path = join(await makeFilesDir(user, dataDir, Number(deploymentId)), name);
  const handle = await open(path, 'wx');
  await letRead(user, path, 0o640);
  return { path, handle };
}
