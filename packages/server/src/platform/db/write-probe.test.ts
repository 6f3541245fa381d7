/** Ready means that the database accepts writes, not only that it answers. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest';
import { administer } from '../../../test/databases.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { createWriteProbe } from './write-probe.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const query = (text: string) => world.server.db.pool.query(text);
const readiness = async () => (await world.raw('GET', '/readyz', { apiKey: null })).status;
/** A result is reused for some seconds, so the clock is moved forward before each check. */
const becomes = (status: number) =>
  expect
    .poll(async () => {
      vi.setSystemTime(Date.now() + 2000);
      return readiness();
    })
    .toBe(status);

/**
 * Fails like PostgreSQL on a full disk, and counts the attempts with a sequence, because sequences are not rolled back.
 */
async function fillDisk() {
  await query('create sequence attempts');
  await query(`create function no_room() returns trigger language plpgsql as $$ begin
    perform nextval('attempts');
    raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
  end $$`);
  await query('create trigger no_room before insert on write_probes for each row execute function no_room()');
  return {
    attempts: async () =>
      Number((await query('select last_value from attempts where is_called')).rows[0]?.last_value ?? 0),
    makeRoom: () => query('drop function no_room cascade; drop sequence attempts'),
  };
}

test('a full disk makes the server unready until there is room again', async () => {
  await becomes(200);
  const { makeRoom } = await fillDisk();
  await becomes(503);
  const response = await world.raw('GET', '/readyz', { apiKey: null });
  expect(await response.json()).toMatchObject({ code: 'unavailable' });
  expect((await world.raw('GET', '/healthz')).status).toBe(200);
  await makeRoom();
  await becomes(200);
});

test('a database that became read-only, as after a failover, makes the server unready', async () => {
  const database = new URL(world.databaseUrl).pathname.slice(1);
  /** Applies to all connections, because the existing ones are ended. */
  const set = async (change: string) => {
    await administer(inject('postgresUrl'), `alter database ${database} ${change}`);
    await administer(
      inject('postgresUrl'),
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`,
    );
  };
  await set('set default_transaction_read_only = on');
  await becomes(503);
  await set('reset default_transaction_read_only');
  await becomes(200);
});

test('a probe writes a page and leaves no row, and runs at most once in ten seconds', async () => {
  let now = 0;
  const probe = createWriteProbe(world.server.db, () => now);
  const made = async () =>
    Number((await query("select pg_relation_size('write_probes') / 8192 as pages")).rows[0].pages);
  await query('vacuum write_probes');
  const before = await made();
  await Promise.all([probe(), probe(), probe()]);
  now = 9_999;
  await probe();
  expect(await made()).toBe(before + 1);
  now = 10_000;
  await probe();
  expect(await made()).toBe(before + 2);
  expect((await query('select from write_probes')).rowCount).toBe(0);
});

test('a failure is reused for a second', async () => {
  let now = 0;
  const probe = createWriteProbe(world.server.db, () => now);
  const { attempts, makeRoom } = await fillDisk();
  for (const [time, made] of [
    [0, 1],
    [999, 1],
    [1000, 2],
  ] as const) {
    now = time;
    await expect(probe()).rejects.toMatchObject({ code: '53100' });
    expect(await attempts()).toBe(made);
  }
  await makeRoom();
});
