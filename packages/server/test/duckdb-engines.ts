/** Real engines of DuckDB, on files in a folder that the tests of a file share. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { DataSource } from '../src/engines/data-sources.ts';
import type { Answer, Engine, Query, QueryLimits } from '../src/engines/engine.ts';
import { filesDirOf } from '../src/engines/engine-user.ts';
import { createEngines, type EngineLimits, type Engines } from '../src/engines/engines.ts';
import { NO_SERVERS } from './engines.ts';

const script = join(import.meta.dirname, '../dist/engine.js');
export const source: DataSource = { name: 'default', type: 'duckdb' };
const log = pino({ level: 'silent' });
/** Long enough for a busy machine. */
export const PATIENTLY = { timeoutMs: 120_000 };
export const PATIENTLY_POLLED = { timeout: 60_000 };

export const ONE = [{ one: '1' }];
export const ENDLESS =
  'select count(*) from range(100000) a, range(100000) b, range(100000) c where a.range + b.range + c.range = -1';

let dataDir: string;
let engines: Engines;
const others: Engines[] = [];

/** Deployment 1 has the file `orders.csv`, and deployment 10 has `secret.csv`. */
export function useDuckdb() {
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'oriel-duckdb-'));
    await chmod(dataDir, 0o755);
    await write(1, 'orders.csv', 'id,status,at\n1,new,2024-01-31\n9007199254740993,done,2024-02-01\n');
    await write(10, 'secret.csv', 'id,name\n1,hidden\n');
    engines = create();
  });
  afterAll(async () => {
    await engines.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  afterEach(async () => {
    for (const other of others.splice(0)) await other.stop();
  });
}

const create = (limits: Partial<EngineLimits> = {}) =>
  createEngines({
    script,
    dataDir,
    ...NO_SERVERS,
    log,
    limits: { memoryMb: 256, threads: 2, ...limits },
    process: { pauses: { firstMs: 20, maxMs: 100 } },
  });

export const engineOf = (deploymentId: number): Engine => engines.of(deploymentId, source);

/** Engines of one test, which end with it. */
export function createOwn(limits?: Partial<EngineLimits>): Engines {
  const own = create(limits);
  others.push(own);
  return own;
}

export const filesOf = (deploymentId: number) => filesDirOf(dataDir, deploymentId);

export async function write(deploymentId: number, name: string, text: string) {
  await mkdir(filesOf(deploymentId), { recursive: true });
  await writeFile(join(filesOf(deploymentId), name), text);
}

export async function answerText(answer: Answer): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of answer.rows) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

export async function ask(
  sql: string,
  more: Partial<Query & QueryLimits> = {},
  engine: Engine = engineOf(1),
) {
  const { parameters, keys, rowForm, ...limits } = more;
  const answer = await engine.query({ sql, parameters, keys, rowForm }, { ...PATIENTLY, ...limits });
  const rows = JSON.parse(await answerText(answer)) as Record<string, unknown>[];
  return { columns: answer.columns, rows, ...(await answer.summary) };
}

export const requireWorking = async (engine?: Engine) =>
  expect((await ask('select 1 as one', {}, engine)).rows).toEqual(ONE);
