/** When a worker looks for work, and what wakes it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { jobWorkers, kind, NO_POLL } from '../../../test/job-workers.ts';
import { observed } from '../../../test/observed-database.ts';
import { unique } from '../../../test/world.ts';
import { createListener } from '../db/listener.ts';
import { enqueue, JOBS_CHANNEL } from './jobs.ts';
import { claimJob, findNextDue } from './store.ts';

const jobs = jobWorkers();
const { work, add, rowsOf, abandon } = jobs;

test('no worker gets a job before its time', async () => {
  const { db } = jobs.world.server;
  const lease = { token: randomUUID(), workerId: randomUUID(), leaseMs: 60_000 };
  const later = kind(async () => {}, { lane: 'syncs' });
  await add(later, { deploymentId: 1 }, { runAt: new Date(Date.now() + 3_600_000) });
  for (const served of [undefined, []])
    expect(await claimJob(db, 'syncs', [later.name], lease, served)).toBeUndefined();
});

test('a worker gets no job of a kind that it does not know, such as one of a newer version', async () => {
  const lease = { token: randomUUID(), workerId: randomUUID(), leaseMs: 60_000 };
  const newer = kind(async () => {}, { lane: 'syncs' });
  await add(newer, { deploymentId: 1 });
  for (const served of [undefined, []])
    expect(await claimJob(jobs.world.server.db, 'syncs', [unique('kind')], lease, served)).toBeUndefined();
  expect(await rowsOf(newer)).toMatchObject([{ state: 'waiting', attempts: 0 }]);
});

test('a worker looks for work when it has released the jobs of the one that it replaces, and noted its schedules', async () => {
  const events: string[] = [];
  const db = observed(jobs.world.server.db, async (text) => {
    const step = /the worker disappeared/.test(text) ? 'release' : text === 'begin' ? 'schedules' : 'work';
    events.push(step);
    await sleep(20);
    events.push(`end of ${step}`);
  });
  await work([kind(async () => {})], { db });
  await expect.poll(() => events).toContain('work');
  const start = ['release', 'end of release', 'schedules', 'end of schedules', 'work'];
  expect(events.slice(0, start.length)).toEqual(start);
});

test('a job that is due later runs at its time, without a poll', async () => {
  let ranAt = 0;
  const job = kind(async () => {
    ranAt = Date.now();
  });
  await work([job], NO_POLL);
  const runAt = new Date(Date.now() + 500);
  await add(job, {}, { runAt });
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done' }]);
  expect(ranAt).toBeGreaterThanOrEqual(runAt.getTime());
});

test('a job that becomes due while another one of its lane runs is run at its time, without a poll', async () => {
  const ran: string[] = [];
  const long = kind(async () => {
    await sleep(300);
    ran.push('long');
  });
  const short = kind(async () => void ran.push('short'));
  await jobs.world.server.db.transaction(async (tx) => {
    await enqueue(tx, long, {});
    await enqueue(tx, short, {}, { runAt: new Date(Date.now() + 600) });
  });
  await work([long, short], NO_POLL);
  // On a busy machine both can be due when the worker starts, and then their order is open.
  await expect.poll(() => [...ran].sort()).toEqual(['long', 'short']);
});

test.each([
  ['returns to the queue', "state = 'waiting', lease_token = null, lease_until = null"],
  ['gets a shorter lease', "lease_until = now() + interval '1 second'"],
])('a job that %s wakes the workers of all servers', async (_, change) => {
  const job = kind(async () => {});
  await add(job);
  await abandon(job, { leaseMs: 3_600_000 });
  const client = new pg.Client({ connectionString: jobs.world.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query('select pg_backend_pid() as pid');
    let heard = 0;
    client.on('notification', ({ processId }) => {
      if (processId === rows[0].pid) heard++;
    });
    await client.query(`listen ${JOBS_CHANNEL}`);
    await client.query(`update jobs set ${change} where kind = $1`, [job.name]);
    await expect.poll(() => heard).toBe(1);
  } finally {
    await client.end();
    // Otherwise the workers of later tests would find its lease.
    await jobs.query('delete from jobs where kind = $1', [job.name]);
  }
});

test('what waits in another lane, has ended, or is of a kind that a worker does not know is not due for it', async () => {
  const job = kind(async () => {});
  await add(job, {}, { runAt: new Date(0) });
  const due = async (kinds: string[]) =>
    (await findNextDue(jobs.world.server.db, ['default', 'removals'], kinds)).lanes;
  expect(await due([unique('kind')])).toEqual([]);
  expect(await due([job.name])).toEqual([{ lane: 'default', inMs: expect.any(Number) }]);
  await jobs.query("update jobs set state = 'done' where kind = $1", [job.name]);
  expect(await due([job.name])).toEqual([]);
});

/** Some schedule would be due if the test ran at its minute. */
const nothingIsScheduled = () =>
  jobs.query("update job_schedules set next_run_at = now() + interval '1 hour'");

test('while nothing is due, a worker only reads', async () => {
  const { db } = jobs.world.server;
  const statements: string[] = [];
  const recorded = observed(db, (text) => statements.push(text.trim()));
  const job = kind(async () => {});
  const schedule = { name: job.name, cron: '0 0 1 1 *', kind: job };
  await work([job], { db: recorded, schedules: [schedule], times: { pollMs: 20 } });
  await nothingIsScheduled();
  await add(job, {}, { runAt: new Date(Date.now() + 3_600_000) });
  statements.length = 0;
  await expect.poll(() => statements.length).toBeGreaterThan(10);
  expect(statements.filter((text) => !/^select\b/.test(text) || /for (no key )?update/.test(text))).toEqual(
    [],
  );
});

test('while nothing is due, a worker sleeps until the next due time, and wakes for new jobs', async () => {
  const { db } = jobs.world.server;
  let looks = 0;
  let heard = 0;
  const counted = observed(db, () => looks++);
  jobs.listener.on(JOBS_CHANNEL, () => heard++);
  const [later, now] = [kind(async () => {}), kind(async () => {})];
  await add(later, {}, { runAt: new Date(Date.now() + 3_600_000) });
  await work([later, now], { db: counted, times: { pollMs: 600_000 } });
  await nothingIsScheduled();
  await expect.poll(() => looks).toBeGreaterThan(0);
  [looks, heard] = [0, 0];
  await sleep(500);
  // Each notification causes one check, and jobs of the test server itself cause some.
  expect(looks).toBeLessThanOrEqual(heard + 1);
  await add(now);
  await expect.poll(() => rowsOf(now)).toMatchObject([{ state: 'done' }]);
});

test('a worker that receives no notifications looks for work by itself', async () => {
  let looks = 0;
  const db = observed(jobs.world.server.db, (text) => {
    if (text.includes('"leaseInMs"')) looks++;
  });
  // This listener is not started.
  const listener = createListener({ connectionString: jobs.world.databaseUrl }, pino({ level: 'silent' }));
  const job = kind(async () => {});
  await nothingIsScheduled();
  await work([job], { ...NO_POLL, db, listener });
  await expect.poll(() => looks).toBeGreaterThan(1);
  await add(job);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done' }]);
});

test('a worker that cannot reach its queue tries again after a pause', async () => {
  const triedAt: number[] = [];
  const db = observed(jobs.world.server.db, (text) => {
    if (!/set state = 'running'/.test(text)) return;
    triedAt.push(performance.now());
    if (triedAt.length === 1) throw new Error('the database cannot be reached');
  });
  const job = kind(async () => {});
  await add(job);
  await work([job], { ...NO_POLL, db, lanes: { default: 1 } });
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done' }]);
  expect(triedAt[1]! - triedAt[0]!).toBeGreaterThan(900);
});

test.each([
  ['the jobs of the one that it replaces are back in the queue', /the worker disappeared/],
  ['its schedules are written', /^begin$/],
])('when a worker has started, %s', async (_, late) => {
  const [name, id] = [unique('schedule'), randomUUID()];
  const job = kind(async () => {});
  await add(job);
  await abandon(job, { workerId: id, leaseMs: 600_000 });
  const db = observed(jobs.world.server.db, (text) => (late.test(text) ? sleep(200) : undefined));
  await work([], { db, id, schedules: [{ name, cron: '0 0 1 1 *', kind: kind(async () => {}) }] });
  expect(await rowsOf(job)).toMatchObject([{ state: 'waiting' }]);
  expect(await jobs.query('select name from job_schedules where name = $1', [name])).toEqual([{ name }]);
});
