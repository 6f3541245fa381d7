import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditLogOf } from '../../../test/audit-log.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { makeMonths } from '../../platform/audit/months.store.ts';
import { dropOldMonths } from '../../platform/audit/retention.ts';

let world: World;
let log: ReturnType<typeof auditLogOf>;
beforeAll(async () => {
  world = await createOwnWorld();
  log = auditLogOf(world);
});
afterAll(() => world.stop());

const keep = (auditLogRetentionDays: number | null) =>
  world.admin.updateTenantSettings({ body: { auditLogRetentionDays } });
const run = (signal = new AbortController().signal) => dropOldMonths(world.server.db, log.box, signal);
/** The ages in days of the entries that the tests have inserted. */
const insertOld = async (...ages: number[]) => {
  for (const age of ages) await log.insert('old', { daysAgo: age, resourceId: String(age) });
};
const stored = async () =>
  (
    await log.query(
      "select resource_id::int as age from audit_log where operation = 'old' order by created_at desc",
    )
  ).map(({ age }) => age);
const listed = async () =>
  (await world.admin.listAuditLog({ operation: 'old' })).items.map(({ resourceId }) => Number(resourceId));
const partitions = async () =>
  (
    await log.query(
      "select relname as name from pg_class where relname ~ '^audit_log_[0-9]{4}_[0-9]{2}$' order by 1",
    )
  ).map(({ name }) => name.slice(-7));
const monthsAgo = (months: number) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months))
    .toISOString()
    .slice(0, 7)
    .replace('-', '_');
};

test('partitions are made ahead of time, and an entry without one is kept until it gets one', async () => {
  expect(await partitions()).toEqual([monthsAgo(0), monthsAgo(-1), monthsAgo(-2)]);
  await insertOld(300, 600, 601);
  expect(await log.query('select count(*)::int from audit_log_default')).toEqual([{ count: 3 }]);
  expect(await listed()).toEqual([300, 600, 601]);
  await makeMonths(world.server.db);
  expect(await log.query('select from audit_log_default')).toEqual([]);
  expect(await stored()).toEqual([300, 600, 601]);
  expect(await listed()).toEqual([300, 600, 601]);
  const before = await partitions();
  expect(before.length).toBeGreaterThan(4);
  await makeMonths(world.server.db);
  expect(await partitions()).toEqual(before);
});

test('the next partition is made before its month begins', async () => {
  const last = monthsAgo(-2);
  await log.query(`drop table audit_log_${last}`);
  await log.query('delete from audit_log_months where month = (select max(month) from audit_log_months)');
  await makeMonths(world.server.db);
  expect(await partitions()).toContain(last);
});

test('entries are not changed or deleted, not even by the role of the server', async () => {
  const [{ partition }] = await log.query(
    'select tableoid::regclass::text as partition from audit_log limit 1',
  );
  for (const statement of [
    "update audit_log set operation = 'other'",
    'delete from audit_log',
    'truncate audit_log',
    `delete from ${partition}`,
    `update ${partition} set created_at = now()`,
  ]) {
    await expect(log.query(statement)).rejects.toThrow('the audit log is append-only');
  }
});

test('retention hides entries that are too old, and drops a month when all of its entries are', async () => {
  await insertOld(1, 29, 62);
  await makeMonths(world.server.db);
  await log.sealAll();
  await keep(null);
  await run();
  expect(await stored()).toEqual([1, 29, 62, 300, 600, 601]);
  await keep(500);
  await expect.poll(listed).toEqual([1, 29, 62, 300]);
  await run();
  expect(await stored()).toEqual([1, 29, 62, 300]);
  await keep(30);
  await run();
  await expect.poll(listed).toEqual([1, 29]);
  expect(await stored()).not.toContain(300);
  expect((await partitions()).length).toBeLessThan(7);
  expect((await log.verify()).problem).toBeUndefined();

  const { items } = await world.admin.listAuditLog({ operation: 'auditLogRetention' });
  expect(items.at(-1)).toMatchObject({
    resourceType: 'auditLogMonth',
    userId: null,
    before: { entries: expect.any(Number) },
  });
  await keep(null);
  await expect.poll(listed).toEqual(await stored());
});

test('a month with entries that are not sealed yet is kept', async () => {
  await insertOld(200);
  await makeMonths(world.server.db);
  await keep(30);
  await run();
  expect(await stored()).toContain(200);
  await log.sealAll();
  await run();
  expect(await stored()).not.toContain(200);
});

test('an entry of a month that was dropped does not come back, and stops nothing', async () => {
  await insertOld(200);
  await makeMonths(world.server.db);
  expect(await stored()).not.toContain(200);
  expect(await log.query('select from audit_log_default')).toEqual([]);
  await log.sealAll();
  expect((await log.verify()).problem).toBeUndefined();
});

test('a run stops when its signal is aborted', async () => {
  await keep(null);
  await insertOld(150);
  await makeMonths(world.server.db);
  await log.sealAll();
  await keep(30);
  await run(AbortSignal.abort());
  expect(await stored()).toContain(150);
});

test('a server makes partitions, seals and drops on its schedules', async () => {
  await insertOld(900);
  const dueNow = (name: string) =>
    log.query("update job_schedules set next_run_at = now() - interval '2 hours' where name = $1", [name]);
  await dueNow('audit-log.sealing');
  await expect.poll(() => log.query('select from audit_log_default')).toEqual([]);
  await expect.poll(async () => (await log.verify()).unsealed).toBe(0);
  await dueNow('audit-log.retention');
  await expect.poll(stored).not.toContain(900);
});
