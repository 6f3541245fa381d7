import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { auditRetention } from './audit-retention.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const query = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;

const insertOld = (daysAgo: number, count = 1) =>
  query(
    `insert into audit_log (created_at, operation, resource_type, resource_id)
     select now() - $1 * interval '1 day', 'old', 'old', $1::text from generate_series(1, $2)`,
    [daysAgo, count],
  );
/** The ages of the entries that the test has inserted, in days. */
const ages = async () =>
  (
    await query("select distinct resource_id::float as age from audit_log where operation = 'old' order by 1")
  ).map(({ age }) => age);

const keep = (auditLogRetentionDays: number | null) =>
  world.admin.updateTenantSettings({ body: { auditLogRetentionDays } });
const run = (signal = new AbortController().signal) =>
  auditRetention.kind.run(
    {},
    { db: world.server.db, log: pino({ level: 'silent' }), attempt: 1, progress: () => {}, signal },
  );

test('entries are deleted when they are older than the account keeps them, and no others', async () => {
  for (const daysAgo of [0.5, 29.9, 30.1, 400, 36_000]) await insertOld(daysAgo);
  await run();
  expect(await ages()).toEqual([0.5, 29.9, 30.1, 400, 36_000]);
  await keep(36_500);
  await run();
  expect(await ages()).toEqual([0.5, 29.9, 30.1, 400, 36_000]);
  await keep(30);
  await run();
  expect(await ages()).toEqual([0.5, 29.9]);
  await keep(1);
  await run();
  expect(await ages()).toEqual([0.5]);
  await keep(null);
  await insertOld(400);
  await run();
  expect(await ages()).toEqual([0.5, 400]);
});

test('a run that has deleted very many entries lets other jobs run, and the next one deletes the rest', async () => {
  await insertOld(100, 20_001);
  await keep(30);
  expect(await run()).toBe('unfinished');
  expect(await ages()).toEqual([0.5, 100]);
  expect(await run()).toBe('done');
  expect(await ages()).toEqual([0.5]);
});

test('a run stops when its signal is aborted', async () => {
  await insertOld(100);
  await keep(30);
  await run(AbortSignal.abort());
  expect(await ages()).toContain(100);
});

test('a server runs it on its schedule', async () => {
  await insertOld(100);
  await keep(30);
  await query("update job_schedules set next_run_at = now() - interval '2 hours' where name = $1", [
    auditRetention.name,
  ]);
  await expect.poll(ages).toEqual([0.5]);
});
