/** The files of a folder that are tables: `orders.parquet` is `files.orders`. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { EngineError } from '../engine.ts';

export const FILES_MAX = 1000;
/** If both exist, the table is the Parquet file. */
const READERS: Record<string, string> = { parquet: 'read_parquet', csv: 'read_csv' };
const FILE_NAME = /^([\w][\w .-]*)\.(parquet|csv)$/;

/** The table that a file of this name is, or nothing if it is none. */
export const tableOf = (file: string): string | undefined => FILE_NAME.exec(file)?.[1];

export interface FileFound {
  table: string;
  path: string;
  reader: string;
  /** Another text means that the file has changed. */
  version: string;
}

/** By the names of the tables in small letters, because DuckDB takes `Orders` and `orders` for one table. */
export function listFiles(filesDir: string): Map<string, FileFound> {
  const found = new Map<string, FileFound>();
  for (const file of namesIn(filesDir).sort()) {
    const [, table, kind] = FILE_NAME.exec(file) ?? [];
    if (table === undefined || kind === undefined) continue;
    const path = join(filesDir, file);
    // `lstat`, because a link could lead out of the folder.
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat?.isFile()) continue;
    const key = table.toLowerCase();
    if (kind === 'csv' && found.get(key)?.reader === READERS.parquet) continue;
    found.set(key, { table, path, reader: READERS[kind]!, version: `${file} ${stat.size} ${stat.mtimeMs}` });
    if (found.size > FILES_MAX) {
      throw new EngineError('source_unavailable', `There are more than ${FILES_MAX} files.`);
    }
  }
  return found;
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw new EngineError('source_unavailable', `The folder of files cannot be read (${code}).`);
  }
}
