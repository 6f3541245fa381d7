/** What a thread does with the files of dbt, without I/O: large or hostile ones take seconds. */
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { limits } from '@oriel/contract';
import {
  convertDbt,
  type DbtConversion,
  DbtModelError,
  type DbtSettings,
  readCatalog,
  readManifest,
} from '@oriel/semantic';

export interface CheckTask {
  kind: 'check';
  /** In shared memory, so that nothing is copied. */
  manifest: SharedArrayBuffer;
  catalog: SharedArrayBuffer | undefined;
}
export interface ConvertTask {
  kind: 'convert';
  /** The file, compressed. */
  manifest: Uint8Array;
  catalog: Uint8Array | undefined;
  settings: DbtSettings;
}
export type DbtTask = CheckTask | ConvertTask;

export interface CheckedArtifacts {
  manifest: Uint8Array;
  catalog: Uint8Array | undefined;
  projectName: string | null;
  dbtVersion: string | null;
  schemaVersion: number;
  models: number;
  sources: number;
  digest: string;
}

export type Answer<Task extends DbtTask> =
  | { problem: string }
  | { done: Task extends CheckTask ? CheckedArtifacts : DbtConversion };

export function answerDbtTask(task: DbtTask): Answer<DbtTask> {
  try {
    return { done: task.kind === 'check' ? check(task) : convert(task) };
  } catch (error) {
    if (error instanceof DbtModelError) return { problem: error.message };
    throw error;
  }
}

function check({ manifest, catalog }: CheckTask): CheckedArtifacts {
  const bytes = Buffer.from(manifest);
  const { projectName, dbtVersion, schemaVersion, counts } = readManifest(parsed(bytes, 'manifest.json'));
  if (catalog) readCatalog(parsed(Buffer.from(catalog), 'catalog.json'));
  return {
    manifest: gzipSync(bytes),
    catalog: catalog && gzipSync(Buffer.from(catalog)),
    projectName: shortened(projectName),
    dbtVersion: shortened(dbtVersion),
    schemaVersion,
    models: counts.models,
    sources: counts.sources,
    digest: createHash('sha256').update(bytes).digest('hex'),
  };
}

const shortened = (text: string | undefined) =>
  text?.slice(0, 200).toWellFormed().replaceAll('\0', '') ?? null;

function convert({ manifest, catalog, settings }: ConvertTask): DbtConversion {
  const open = (bytes: Uint8Array) => gunzipSync(bytes, { maxOutputLength: limits.dbtFile });
  return convertDbt(
    parsed(open(manifest), 'manifest.json'),
    catalog && parsed(open(catalog), 'catalog.json'),
    settings,
  );
}

/** dbt's own files have about ten levels, and `meta` of users some more. */
const DEPTH_MAX = 100;

function parsed(bytes: Buffer, name: string): unknown {
  requireDepth(bytes, name);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new DbtModelError(`${name} is not valid JSON.`);
  }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Looked at before it is parsed, because each level takes memory. */
function requireDepth(bytes: Buffer, name: string) {
  let depth = 0;
  let isText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (isText) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (OPENING.has(byte)) {
      if (++depth > DEPTH_MAX)
        throw new DbtModelError(`${name} is nested more than ${DEPTH_MAX} levels deep.`);
    } else if (CLOSING.has(byte)) depth--;
  }
}
