import { readdirSync, statSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NO_SERVERS } from '../../test/engines.ts';
import { isRoot } from '../platform/processes/process-user.ts';
import { filesDirOf } from './engine-user.ts';
import { createEngines, type Engines } from './engines.ts';

const script = join(import.meta.dirname, '../../dist/engine.js');
const log = pino({ level: 'silent' });
const MIDNIGHT = '2027-01-01T00:00:00.000Z';
let dataDir: string;
let engines: Engines;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'oriel-demo-'));
  await chmod(dataDir, 0o711);
  engines = createEngines({ script, dataDir, ...NO_SERVERS, log });
  // At the same time, as two servers with one data dir would.
  await Promise.all([1, 2].map(() => engines.makeDemoFiles(1, MIDNIGHT)));
});
afterAll(async () => {
  await engines.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function ask(sql: string): Promise<unknown[]> {
  const answer = await engines
    .of(1, { name: 'default', type: 'duckdb' })
    .query({ sql, rowForm: 'arrays' }, { timeoutMs: 120_000 });
  const pieces: Buffer[] = [];
  for await (const piece of answer.rows) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString());
}

/** Every server must make the same rows: a change of them must be meant. */
const EXPECTED = [
  ['customers', '1200', '491a3544fcb12f80b2bf490811b3bd83'],
  ['events', '30000', '0dc07ff5cf039d00d29709841abc8216'],
  ['line_items', '36116', '57c289fe80bc4924f4cfdad86c3020dd'],
  ['orders', '12000', '7e9bb312fcd0ea8035d7de4dc8698160'],
  ['products', '180', '6be7242ba6917d933f73cc255fe7ecea'],
];

test('every machine makes the same rows', async () => {
  const rows = EXPECTED.map(
    ([table]) =>
      `select '${table}', count(*), md5(string_agg(r::varchar, '|' order by r.id)) from files.${table} as r`,
  );
  expect(await ask(`${rows.join(' union all ')} order by 1`)).toEqual(EXPECTED);
});

test('every row belongs to rows that are there', async () => {
  expect(
    await ask(`
      select (select count(*) from files.orders where customer_id not in (select id from files.customers)),
        (select count(*) from files.line_items where order_id not in (select id from files.orders)),
        (select count(*) from files.line_items where product_id not in (select id from files.products)),
        (select count(*) from files.events where customer_id not in (select id from files.customers)),
        (select count(distinct tier) from files.customers), (select count(distinct region) from files.customers)`),
  ).toEqual([['0', '0', '0', '0', '4', '3']]);
});

test('the files are only for the server and its engines, who cannot write to them, and nothing else is left', () => {
  const dir = filesDirOf(dataDir, 1);
  expect(readdirSync(join(dataDir, 'files'))).toEqual(['1']);
  for (const path of [dir, join(dir, 'orders.parquet')]) {
    const { mode, uid } = statSync(path);
    expect(mode & 0o027).toBe(0);
    if (isRoot()) expect(uid).toBe(0);
  }
});

/** The last and the first day, the orders, and all that happens at a moment or later. */
const endsAt = (until: string) => `
  select max(ordered_at)::date::varchar, min(ordered_at)::date::varchar, count(*),
    (select count(*) from files.orders where greatest(ordered_at, shipped_at, delivered_at) >= timestamp '${until}')
      + (select count(*) from files.events where happened_at >= timestamp '${until}')
      + (select count(*) from files.customers where signed_up_at >= timestamp '${until}')
  from files.orders`;

test('files of the hour stay as they are; in the next ones, all times move on, and nothing lies in the future', async () => {
  const madeAt = () => statSync(join(filesDirOf(dataDir, 1), 'orders.parquet')).ctimeMs;
  const before = madeAt();
  await engines.makeDemoFiles(1, MIDNIGHT);
  expect(madeAt()).toBe(before);
  expect(await ask(endsAt('2027-01-01 00:00:00'))).toEqual([['2026-12-31', '2024-01-01', '12000', '0']]);
  await engines.makeDemoFiles(1, '2027-01-01T15:00:00.000Z');
  expect(await ask(endsAt('2027-01-01 15:00:00'))).toEqual([['2027-01-01', '2024-01-01', '12000', '0']]);
});
