import pg from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { heldKind, jobWorkers, kind, NO_POLL } from '../../../test/job-workers.ts';
import { unique } from '../../../test/world.ts';
import { sql } from '../db/sql.ts';
import { deleteSchedule, enqueueDue, nextRun, type Schedule, upsertSchedule } from './schedules.ts';
import { findNextDue } from './store.ts';

const YEARLY = '0 0 1 1 *';

const jobs = jobWorkers();
const { work, query, rowsOf } = jobs;

const save = (schedule: Schedule) => jobs.world.server.db.transaction((tx) => upsertSchedule(tx, schedule));
const rowOf = async (name: string) =>
  (await query('select *, next_run_at > now() as "isLater" from job_schedules where name = $1', [name]))[0];
const makeDue = (name: string, ago = '1 second') =>
  query('update job_schedules set next_run_at = now() - $2::interval where name = $1', [name, ago]);

test('a schedule enqueues one job per run even with many servers, and only one after a pause', async () => {
  const job = kind(async () => {});
  const schedule = { name: unique('schedule'), cron: YEARLY, kind: job };
  for (let i = 0; i < 3; i++) await work([], { ...NO_POLL, schedules: [schedule] });
  expect(await rowsOf(job)).toHaveLength(0);
  await makeDue(schedule.name, '3 years');
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done' }]);
  // When a later schedule has run, all servers have checked again.
  const marker = kind(async () => {});
  await work([marker], NO_POLL);
  await save({ name: unique('schedule'), everySeconds: 1, kind: marker });
  await expect.poll(async () => (await rowsOf(marker)).length).toBeGreaterThan(0);
  expect(await rowsOf(job)).toHaveLength(1);
  expect(await rowOf(schedule.name)).toMatchObject({ isLater: true, error: null });
});

test('a schedule waits until its last job has ended, and then runs once', async () => {
  const { job, release } = heldKind();
  const marker = kind(async () => {});
  const name = unique('schedule');
  await work([job, marker], { times: { pollMs: 20 }, lanes: { default: 2 } });
  await save({ name, cron: YEARLY, kind: job });
  await makeDue(name);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'running', schedule: name }]);
  await makeDue(name, '3 years');
  // The same worker has taken what is due again when a later one has run.
  await save({ name: unique('schedule'), everySeconds: 1, kind: marker });
  await expect.poll(async () => (await rowsOf(marker)).length).toBeGreaterThan(1);
  expect(await rowsOf(job)).toHaveLength(1);
  expect(await rowOf(name)).toMatchObject({ isLater: false });
  release();
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
  expect(await rowOf(name)).toMatchObject({ isLater: true });
});

test('while the last job of a due schedule runs, a worker only waits', async () => {
  const { job, release } = heldKind();
  const name = unique('schedule');
  await save({ name, cron: YEARLY, kind: job });
  await makeDue(name);
  await work([job], NO_POLL);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'running' }]);
  await makeDue(name);
  const { scheduleInMs } = await findNextDue(jobs.world.server.db, [], [job.name]);
  expect(scheduleInMs).toBeNull();
  release();
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
});

test('a start does not change the next time of a schedule, unless its pattern changed', async () => {
  const job = kind(async () => {});
  const name = unique('schedule');
  await save({ name, cron: YEARLY, kind: job });
  await query("update job_schedules set next_run_at = now() + interval '5 minutes' where name = $1", [name]);
  const before = await rowOf(name);
  await save({ name, cron: YEARLY, kind: job });
  expect((await rowOf(name)).next_run_at).toEqual(before.next_run_at);
  await save({ name, cron: YEARLY, kind: job, payload: { other: true } });
  expect(await rowOf(name)).toMatchObject({ next_run_at: before.next_run_at, payload: { other: true } });
  await save({ name, cron: YEARLY, timeZone: 'Asia/Tokyo', kind: job });
  const { next_run_at } = await rowOf(name);
  expect(next_run_at).toMatch(/-12-31T15:00:00.000Z$/);
});

test('hundreds of schedules that are due at once become one job each, with their payload', async () => {
  const ran: number[] = [];
  const job = kind(async (payload) => void ran.push((payload as { n: number }).n));
  await query(
    `insert into job_schedules (name, kind, payload, every_seconds, next_run_at)
     select $1 || '.' || n, $1, json_build_object('n', n), 3600, now() - interval '1 minute'
     from generate_series(1, 500) n`,
    [job.name],
  );
  // Two servers share the work.
  for (let i = 0; i < 2; i++) await work([job], { ...NO_POLL, lanes: { default: 4 } });
  await expect.poll(() => ran.length, { timeout: 60_000 }).toBe(500);
  expect(new Set(ran).size).toBe(500);
  const [{ open }] = await query(
    'select count(*)::int as open from job_schedules where kind = $1 and next_run_at < now()',
    [job.name],
  );
  expect(open).toBe(0);
});

test('the job and the next time of a schedule are written together or not at all', async () => {
  const job = kind(async () => {});
  const name = unique('schedule');
  await save({ name, cron: YEARLY, kind: job });
  await query(`alter table jobs add constraint refused check (kind <> '${job.name}')`);
  await makeDue(name);
  const before = await rowOf(name);
  const worker = await work([job]);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect((await rowOf(name)).next_run_at).toEqual(before.next_run_at);
  await worker.stop();
  await query('alter table jobs drop constraint refused');
  await work([job]);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done' }]);
  expect(await rowOf(name)).toMatchObject({ isLater: true });
});

test('without its next time, no job of a schedule is written', async () => {
  const job = kind(async () => {});
  const name = unique('schedule');
  await save({ name, cron: YEARLY, kind: job });
  await makeDue(name);
  await query(`
    create function refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end';
    create trigger refuse before update on job_schedules for each row when (new.name = '${name}') execute function refuse();`);
  const { db } = jobs.world.server;
  await expect(enqueueDue(db, pino({ level: 'silent' }), new Map([[job.name, job]]))).rejects.toThrow(
    'refused',
  );
  await query('drop function refuse cascade');
  expect(await rowsOf(job)).toEqual([]);
});

test('a schedule with a broken pattern is parked with its error, and runs again with a valid pattern', async () => {
  const job = kind(async () => {});
  const [broken, good] = [unique('schedule'), unique('schedule')];
  for (const name of [broken, good]) await save({ name, cron: YEARLY, kind: job });
  await query("update job_schedules set cron = 'every full moon' where name = $1", [broken]);
  for (const name of [broken, good]) await makeDue(name);
  await work([job], NO_POLL);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done' }]);
  expect(await rowOf(broken)).toMatchObject({
    next_run_at: null,
    error: expect.stringContaining('full moon'),
  });
  const metrics = await (await fetch(`${jobs.world.url}/metrics`)).text();
  expect(metrics).toMatch(/^oriel_schedules_parked 1$/m);
  await save({ name: broken, cron: YEARLY, kind: job });
  expect(await rowOf(broken)).toMatchObject({ isLater: true, error: null });
  // As after an upgrade that reads the pattern.
  await query("update job_schedules set next_run_at = null, error = 'unreadable' where name = $1", [broken]);
  await save({ name: broken, cron: YEARLY, kind: job });
  expect(await rowOf(broken)).toMatchObject({ isLater: true, error: null });
});

test('a schedule is locked until its job and its next time are written', async () => {
  const job = kind(async () => {});
  const name = unique('schedule');
  await save({ name, cron: YEARLY, kind: job });
  await makeDue(name);
  const { db } = jobs.world.server;
  const held = new pg.Client({ connectionString: jobs.world.databaseUrl });
  await held.connect();
  await held.query('begin; lock table jobs in share row exclusive mode');
  const taking = enqueueDue(db, pino({ level: 'silent' }), new Map([[job.name, job]]));
  const inserting =
    "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert into jobs%'";
  await expect.poll(() => query(inserting)).not.toEqual([]);
  expect(await query('select from job_schedules where name = $1 for update skip locked', [name])).toEqual([]);
  await held.query('commit');
  await held.end();
  expect(await taking).toBe(1);
});

test('a schedule that another server is taking does not hold up the others', async () => {
  const [held, free] = [kind(async () => {}), kind(async () => {})];
  const names = [unique('schedule'), unique('schedule')] as const;
  await save({ name: names[0], cron: YEARLY, kind: held });
  await save({ name: names[1], cron: YEARLY, kind: free });
  await makeDue(names[0], '2 hours');
  await makeDue(names[1]);
  await jobs.world.server.db.transaction(async (tx) => {
    await tx.run(sql`select from job_schedules where name = ${names[0]} for update`);
    await work([held, free], NO_POLL);
    await expect.poll(() => rowsOf(free)).toMatchObject([{ state: 'done' }]);
    expect(await rowsOf(held)).toEqual([]);
  });
  await expect.poll(() => rowsOf(held)).toMatchObject([{ state: 'done' }]);
});

test('a schedule of an unknown kind of job is not touched', async () => {
  const [known, unknown] = [kind(async () => {}), kind(async () => {})];
  const names = [unique('schedule'), unique('schedule')] as const;
  await save({ name: names[0], cron: YEARLY, kind: unknown });
  await makeDue(names[0], '2 hours');
  const before = await rowOf(names[0]);
  await save({ name: names[1], cron: YEARLY, kind: known });
  await makeDue(names[1]);
  await work([known]);
  await expect.poll(() => rowsOf(known)).toMatchObject([{ state: 'done' }]);
  expect(await rowOf(names[0])).toEqual(before);
  await work([unknown]);
  await expect.poll(() => rowsOf(unknown)).toMatchObject([{ state: 'done' }]);
});

test('an invalid pattern is refused', async () => {
  const job = kind(async () => {});
  const name = unique('schedule');
  await expect(save({ name, cron: 'x', kind: job })).rejects.toThrow(TypeError);
  await expect(save({ name, cron: '* * * * * *', kind: job })).rejects.toThrow(TypeError);
  await expect(save({ name, cron: YEARLY, timeZone: 'Mars/Olympus', kind: job })).rejects.toThrow(TypeError);
  expect(await rowOf(name)).toBeUndefined();
});

test('a schedule can be deleted, and is deleted with its deployment or user', async () => {
  const job = kind(async () => {});
  const { id: deploymentId } = await jobs.world.deployment();
  const { userId } = await jobs.world.person();
  const [alone, ofDeployment, ofUser] = [unique('schedule'), unique('schedule'), unique('schedule')] as const;
  await save({ name: alone, cron: YEARLY, kind: job });
  await save({ name: ofDeployment, cron: YEARLY, kind: job, deploymentId });
  await save({ name: ofUser, cron: YEARLY, kind: job, userId });
  await jobs.world.server.db.transaction((tx) => deleteSchedule(tx, alone));
  expect(await rowOf(alone)).toBeUndefined();
  await jobs.world.admin.deleteDeployment({ deploymentId });
  expect(await rowOf(ofDeployment)).toBeUndefined();
  // The row of a deleted user stays until a job has removed what they leave behind. Here it stays for good.
  await query(`
    create function keep_row() returns trigger language plpgsql as 'begin return null; end';
    create trigger keep_users before delete on users for each row execute function keep_row();`);
  await jobs.world.admin.deleteUser({ id: userId });
  expect(await rowOf(ofUser)).toBeUndefined();
  await query('drop trigger keep_users on users');
});

const next = (pattern: { cron: string; timeZone?: string }, now: string) => {
  const at = new Date(now);
  return nextRun({ everySeconds: null, timeZone: 'UTC', ...pattern }, at, at)?.toISOString();
};

test.each([
  ['* * * * *', '2026-01-01T10:00:30.000Z', '2026-01-01T10:01:00.000Z'],
  ['* * * * *', '2026-01-01T10:01:00.000Z', '2026-01-01T10:02:00.000Z'],
  ['0 3 * * *', '2026-01-01T03:00:00.000Z', '2026-01-02T03:00:00.000Z'],
  ['0 0 30 2 *', '2026-01-01T03:00:00.000Z', undefined],
])('%s after %s comes at %s', (cron, now, expected) => {
  expect(next({ cron }, now)).toBe(expected);
});

test.each([
  ['in winter', '30 2 * * *', '2026-03-28T00:00:00.000Z', '2026-03-28T01:30:00.000Z'],
  [
    'at the end of the hour that is skipped in spring',
    '30 2 * * *',
    '2026-03-28T12:00:00.000Z',
    '2026-03-29T01:00:00.000Z',
  ],
  ['once after that', '30 2 * * *', '2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z'],
  [
    'in the first of the two equal hours in autumn',
    '30 2 * * *',
    '2026-10-24T12:00:00.000Z',
    '2026-10-25T00:30:00.000Z',
  ],
  ['not in the second one', '30 2 * * *', '2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z'],
  ['each hour, the doubled one too', '0 * * * *', '2026-10-25T00:00:00.000Z', '2026-10-25T01:00:00.000Z'],
])('a schedule in Berlin comes %s', (_, cron, now, expected) => {
  expect(next({ cron, timeZone: 'Europe/Berlin' }, now)).toBe(expected);
});

test.each([
  ['at its time', '10:00:00', '10:00:00', '10:15:00'],
  ['a little late', '10:00:00', '10:00:07', '10:15:00'],
  ['after a long pause', '10:00:00', '12:20:00', '12:30:00'],
])('an interval of a quarter of an hour does not drift %s', (_, last, now, expected) => {
  const at = (time: string) => new Date(`2026-01-01T${time}.000Z`);
  const pattern = { cron: null, everySeconds: 900, timeZone: 'UTC' };
  expect(nextRun(pattern, at(last), at(now))).toEqual(at(expected));
});
