import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDatabase, dropDatabase, onServer } from '../../../test/databases.ts';
import { type Database, isUnavailable, openDatabase, type Queryable } from './database.ts';
import { sql } from './sql.ts';

const POOL_SIZE = 4;

let name: string;
let db: Database;
let holder: pg.Client;
beforeAll(async () => {
  name = await createDatabase(inject('postgresUrl'));
  const connectionString = onServer(inject('postgresUrl'), name);
  db = openDatabase({ connectionString }, pino({ level: 'silent' }), { poolSize: POOL_SIZE });
  holder = new pg.Client({ connectionString });
  await holder.connect();
});
afterAll(async () => {
  await holder.end();
  await db.end();
  await dropDatabase(inject('postgresUrl'), name);
});

/** Waits without a limit, because these tests check who is served in the meantime, not who gives up first. */
const waitForLock = (queryable: Queryable) =>
  queryable.run(sql`select set_config('lock_timeout', '0', true), pg_advisory_xact_lock(1)`);

const countWaiting = async () =>
  (
    await holder.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).rowCount;

describe('even if many requests wait for a lock, some connections are left for reads', () => {
  test.each([
    ['single statements', () => waitForLock(db.writes)],
    ['transactions', () => db.transaction(waitForLock)],
  ])('%s', async (_, change) => {
    await holder.query('select pg_advisory_lock(1)');
    const changes = Promise.allSettled(Array.from({ length: 3 * POOL_SIZE }, change));
    try {
      await expect.poll(countWaiting).toBeGreaterThanOrEqual(POOL_SIZE - 1);
      for (let i = 0; i < 3; i++) expect(await db.one(sql`select 1 as read`)).toEqual({ read: 1 });
    } finally {
      await holder.query('select pg_advisory_unlock(1)');
      await changes;
    }
  });
});

test('two transactions that deadlock both succeed, because the one that the database ends is tried again', async () => {
  await holder.query(
    'create table pairs (id int primary key, n int); insert into pairs values (1, 0), (2, 0)',
  );
  const attempts = [0, 0];
  const arrive: (() => void)[] = [];
  const arrived = [0, 1].map((one) => new Promise<void>((resolve) => (arrive[one] = resolve)));
  const change = (me: 0 | 1) =>
    db.transaction(async (tx) => {
      attempts[me]!++;
      await tx.run(sql`update pairs set n = n + 1 where id = ${me + 1}`);
      arrive[me]!();
      await arrived[1 - me];
      await tx.run(sql`update pairs set n = n + 1 where id = ${2 - me}`);
    });
  await Promise.all([change(0), change(1)]);
  expect(attempts[0]! + attempts[1]!).toBeGreaterThan(2);
  expect((await holder.query('select n from pairs order by id')).rows).toEqual([{ n: 2 }, { n: 2 }]);
});

const backend = () => db.one<{ pid: number }>(sql`select pg_backend_pid() as pid`);

test('a connection is used again after the database refused a statement', async () => {
  const { pid } = await backend();
  await expect(db.one(sql`select 1 / 0`)).rejects.toMatchObject({ code: '22012' });
  expect((await backend()).pid).toBe(pid);
});

describe('if the database does not answer in time, the work fails and its connection is closed', () => {
  const SLEEP = sql`select pg_sleep(60)`;
  test.each<[string, (impatient: Database) => Promise<unknown>]>([
    ['a single statement', (impatient) => impatient.run(SLEEP)],
    ['a transaction', (impatient) => impatient.transaction((tx) => tx.run(SLEEP))],
  ])('%s', async (_, work) => {
    // Long enough that a busy machine answers the other statements in time.
    const waits = { lockTimeout: '3s', connectionMs: 60_000, answerMs: 3000 };
    const connectionString = onServer(inject('postgresUrl'), name);
    const impatient = openDatabase({ connectionString }, pino({ level: 'silent' }), { poolSize: 1, waits });
    try {
      const { pid } = await impatient.one<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      const failure = await work(impatient).catch((error) => error);
      expect(isUnavailable(failure)).toBe(true);
      const next = await impatient.one<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      expect(next.pid).not.toBe(pid);
    } finally {
      await impatient.end();
    }
  });
});
