/**
 * The queries of packages/semantic/test/golden, in the engines as deployments use them: the rows must be the same in all of
 * them, and those of the golden files.
 */
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { compileModel, type DialectName, type Model, planQuery, type Statement } from '@oriel/semantic';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Cell, plain } from '../../../semantic/test/engines.ts';
import { admin, CASES, goldenRows, NOW } from '../../../semantic/test/golden/cases.ts';
import { clickHouseSource, createInClickHouse } from '../../test/clickhouse-source.ts';
import { createSourceDatabase, type SourceDatabase } from '../../test/source-database.ts';
import type { Engine } from './engine.ts';
import { filesDirOf } from './engine-user.ts';
import { createEngines, type Engines } from './engines.ts';

const GOLDEN = join(import.meta.dirname, '../../../semantic/test/golden');
const PATIENTLY = { timeoutMs: 120_000 };

let model: Model;
let database: SourceDatabase;
let dataDir: string;
let engines: Engines;
let asked: [DialectName, Engine][];

beforeAll(async () => {
  const tables = await readFile(join(GOLDEN, 'shop.sql'), 'utf8');
  dataDir = await mkdtemp(join(inject('runFolder'), 'same-rows-'));
  await chmod(dataDir, 0o711);
  await writeParquet(tables, filesDirOf(dataDir, 1));
  // Files are in this schema, so the tables are too.
  database = await createSourceDatabase(`create schema files; set search_path = files; ${tables}`);
  const text = (await readFile(join(GOLDEN, 'shop.yml'), 'utf8')).replace(
    /(sql_table: |from )(?=\w)/g,
    '$1files.',
  );
  const compiled = compileModel(new Map([['model/shop.yml', text]]));
  expect(compiled.errors).toEqual([]);
  model = compiled.model!;
  engines = createEngines({
    script: join(import.meta.dirname, '../../dist/engine.js'),
    dataDir,
    allowPrivateRemotes: true,
    ownDatabase: async () => ({ systemIdentifier: '1', database: 'oriel' }),
    log: pino({ level: 'silent' }),
  });
  asked = [
    ['duckdb', engines.of(1, { name: 'default', type: 'duckdb' })],
    ['postgres', engines.of(1, database.source)],
  ];
  // See `npm run test:clickhouse`.
  const source = clickHouseSource('files');
  if (source) {
    await createInClickHouse(source, tables);
    asked.push(['clickhouse', engines.of(1, source)]);
  }
});
afterAll(async () => {
  await engines.stop();
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function writeParquet(statements: string, dir: string) {
  await mkdir(dir, { recursive: true });
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(statements);
  for (const [, name] of statements.matchAll(/create table (\w+)/g)) {
    await connection.run(`copy ${name} to '${join(dir, `${name}.parquet`)}'`);
    await chmod(join(dir, `${name}.parquet`), 0o644);
  }
  connection.closeSync();
  instance.closeSync();
}

async function rowsOf(engine: Engine, { sql, parameters }: Statement) {
  const answer = await engine.query({ sql, parameters, rowForm: 'arrays' }, PATIENTLY);
  const pieces: Buffer[] = [];
  for await (const piece of answer.rows) pieces.push(piece);
  const rows = JSON.parse(Buffer.concat(pieces).toString()) as Cell[][];
  return { types: answer.columns.map(({ type }) => type), rows: rows.map((row) => row.map(rounded)) };
}

/** Quotients have more digits in PostgreSQL. */
const rounded = (value: Cell) =>
  typeof value === 'string' && /^-?\d+\.\d{10,}$/.test(value) ? Number(value).toPrecision(10) : value;

/** Golden files have the microseconds that engines leave out. */
const inMilliseconds = (value: Cell) =>
  typeof value === 'string' ? value.replace(/(:\d\d\.\d{3})\d+$/, '$1') : value;

test.each(Object.entries(CASES))('%s', async (name, [query, viewer = admin]) => {
  const answers = [];
  for (const [dialect, engine] of asked) {
    const { plans } = planQuery(model, query, viewer, { dialect, now: NOW });
    const statements = plans.flatMap(({ statement, total }) => (total ? [statement, total] : [statement]));
    const rows = [];
    for (const statement of statements) rows.push(await rowsOf(engine, statement));
    answers.push(rows);
  }
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  const golden = (await goldenRows(name)).map((rows) => rows.map((row) => row.map(inMilliseconds)));
  expect(answers[0]!.map(({ rows }) => rows.map((row) => row.map(plain)))).toEqual(golden);
});
