/**
 * The file of a backup: entries, compressed by gzip. Each entry is a line of JSON, and some are followed by as many bytes
 * as the line says. The first entry describes the backup. The last one shows that nothing is missing or changed.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream';
import { pipeline as pipelined } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { StartupError } from '../../startup-error.ts';
import { syncFolder } from '../../sync-folder.ts';
import type { Partition, Sequence, StoredTable } from './catalogue.ts';

/** Raise it if a file is written that earlier versions cannot read. */
const FORMAT = 1;
const NEWLINE = 0x0a;
const LINE_MAX = 16 * 1024 * 1024;

export interface Header {
  oriel: 'backup';
  format: number;
  /** The version of the Oriel that made the backup. */
  version: string;
  createdAt: string;
  secretKeyFingerprint: string;
  /** The secret key, only if the operator asked for it. */
  secretKey?: string;
  migrations: { version: number; name: string; checksum: string }[];
  tables: StoredTable[];
  partitions: Partition[];
}

/** Rows of a table as `copy` writes them, or bytes of a file. */
export type Part = { table: string } | { file: string };

/** How many rows a table has, and a sum over their hashes that does not depend on their order. */
export interface RowSum {
  rows: number;
  sum: string;
}

export interface Totals {
  tables: Record<string, RowSum>;
  sequences: Sequence[];
  files: number;
}

export function countsOf({ tables, files }: Totals) {
  const sums = Object.values(tables);
  return { tables: sums.length, rows: sums.reduce((all, { rows }) => all + rows, 0), files };
}

export type Entry = { header: Header } | { part: Part; data: Buffer } | { totals: Totals };

export interface ArchiveWriter {
  header(header: Omit<Header, 'oriel' | 'format'>): Promise<void>;
  part(part: Part, data: Buffer): Promise<void>;
  totals(totals: Totals): Promise<void>;
}

/** Writes to another name first, so that a file of this name is always whole. Only we can read the file. */
export async function writeArchive(
  path: string,
  work: (archive: ArchiveWriter) => Promise<void>,
): Promise<void> {
  const unfinished = `${path}.unfinished-${process.pid}`;
  const removeUnfinished = () => rmSync(unfinished, { force: true });
  const gzip = createGzip();
  const hash = createHash('sha256');
  const written = pipelined(gzip, createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }));
  const failed = written.catch(failWriting);
  failed.catch(() => {});
  const write = async (data: Buffer) => {
    hash.update(data);
    // Without `once` of node:events, which would reject first, with an error that does not say what failed.
    if (!gzip.write(data)) await Promise.race([new Promise((done) => gzip.once('drain', done)), failed]);
  };
  const line = (value: object) => write(Buffer.from(`${JSON.stringify(value)}\n`));

  process.once('exit', removeUnfinished);
  try {
    await work({
      header: (header) => line({ oriel: 'backup', format: FORMAT, ...header }),
      async part(part, data) {
        await line({ ...part, bytes: data.length });
        await write(data);
      },
      totals: (totals) => line({ totals, sha256: hash.copy().digest('hex') }),
    });
    gzip.end();
    await failed;
    await nameFile(unfinished, path);
  } catch (error) {
    gzip.destroy();
    await written.catch(() => {});
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    process.off('exit', removeUnfinished);
  }
}

function failWriting({ message }: Error): never {
  throw new StartupError(`The backup cannot be written: ${message}.`);
}

export const existsAlready = (path: string) =>
  new StartupError(`The file ${path} exists already: name another one.`);

/** Never replaces a file. FAT and some network folders have no links, so there an empty file takes the name first. */
async function nameFile(unfinished: string, path: string) {
  const unlessTaken = (error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw existsAlready(path);
    return error;
  };
  const isUnlinked = await link(unfinished, path).catch(unlessTaken);
  if (isUnlinked) {
    const name = await open(path, 'wx').catch(unlessTaken);
    if (name instanceof Error) failWriting(name);
    await name.close();
    await rename(unfinished, path);
  } else await rm(unfinished);
  await syncFolder(dirname(path));
}

/** Throws a `StartupError` at the first thing that is wrong. The totals come only if everything was read and is right. */
export async function* readArchive(path: string, signal?: AbortSignal): AsyncGenerator<Entry> {
  const damaged = (what: string) => new StartupError(`The backup ${path} is damaged or incomplete: ${what}.`);
  const hash = createHash('sha256');
  let line: Buffer[] = [];
  let lineBytes = 0;
  let part: Part | undefined;
  let left = 0;
  let header: Header | undefined;
  let totals: Totals | undefined;

  for await (const piece of unzipped(path, damaged, signal)) {
    let rest = piece;
    while (rest.length) {
      if (totals) throw damaged('something follows its end');
      if (left) {
        const data = rest.subarray(0, left);
        hash.update(data);
        left -= data.length;
        rest = rest.subarray(data.length);
        yield { part: part!, data };
        continue;
      }
      const end = rest.indexOf(NEWLINE) + 1;
      line.push(rest.subarray(0, end || rest.length));
      lineBytes += line.at(-1)!.length;
      rest = rest.subarray(line.at(-1)!.length);
      if (lineBytes > LINE_MAX) throw damaged('a line of it is too long');
      if (!end) continue;
      const text = Buffer.concat(line);
      [line, lineBytes] = [[], 0];
      const entry = parseEntry(text, damaged);
      if (!header) {
        header = requireHeader(entry, path);
        yield { header };
      } else if ('totals' in entry) {
        if (entry.sha256 !== hash.digest('hex')) throw damaged('its checksum is wrong');
        totals = entry.totals as Totals;
        continue;
      } else {
        ({ part, bytes: left } = requirePart(entry, damaged));
        if (!left) yield { part, data: Buffer.alloc(0) };
      }
      hash.update(text);
    }
  }
  if (!totals) throw damaged('its end is missing');
  yield { totals };
}

async function* unzipped(
  path: string,
  damaged: (what: string) => StartupError,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  pipeline(createReadStream(path, { signal }), gunzip, () => {});
  try {
    yield* gunzip;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (message === 'incorrect header check') throw notABackup(path);
    if (code?.startsWith('Z_')) throw damaged(message);
    if (code === 'ENOENT') throw new StartupError(`There is no file ${path}.`);
    throw new StartupError(`The backup ${path} cannot be read: ${message}.`);
  }
}

const notABackup = (path: string) => new StartupError(`The file ${path} is not a backup of Oriel.`);

function parseEntry(text: Buffer, damaged: (what: string) => StartupError): Record<string, unknown> {
  try {
    const entry = JSON.parse(text.toString());
    if (typeof entry === 'object' && entry !== null) return entry;
  } catch {
    // Damaged, like a line that is no object.
  }
  throw damaged('a line of it is not JSON');
}

function requireHeader(entry: Record<string, unknown>, path: string): Header {
  if (entry.oriel !== 'backup') throw notABackup(path);
  if (entry.format !== FORMAT) {
    throw new StartupError(
      `The backup ${path} has the format ${entry.format}, and this Oriel reads format ${FORMAT}: restore it with Oriel ${entry.version} or later.`,
    );
  }
  return entry as unknown as Header;
}

function requirePart(
  { table, file, bytes }: Record<string, unknown>,
  damaged: (what: string) => StartupError,
) {
  const isNamed = (typeof table === 'string') !== (typeof file === 'string');
  if (!isNamed || !Number.isSafeInteger(bytes) || (bytes as number) < 0) {
    throw damaged('a line of it is not known');
  }
  const part = (typeof table === 'string' ? { table } : { file }) as Part;
  return { part, bytes: bytes as number };
}
