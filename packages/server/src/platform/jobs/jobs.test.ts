import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startListening } from '../../../test/listening.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';
import type { Listener } from '../db/listener.ts';
import {
  backoff,
  enqueue,
  isDue,
  JOBS_CHANNEL,
  type JobKind,
  type Schedule,
  startWorker,
  type Worker,
} from './jobs.ts';

let world: World;
let listener: Listener;
const log = pino({ level: 'silent' });
const workers: Worker[] = [];

beforeAll(async () => {
  world = await createWorld();
  listener = await startListening(world.databaseUrl, JOBS_CHANNEL);
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
});
afterAll(async () => {
  await listener.end();
  await world.stop();
});

const TIMES = { pollMs: 50, leaseMs: 600, backoffMs: 10 };

async function work(kinds: JobKind[], schedules: Schedule[] = [], times = TIMES) {
  const worker = await startWorker({ db: world.server.db, listener, log, kinds, schedules, times });
  workers.push(worker);
  return worker;
}

/** A kind of its own for each test, so that no worker takes another's jobs. */
const kind = (run: JobKind['run'], maxAttempts?: number): JobKind => ({
  name: unique('kind'),
  run,
  maxAttempts,
});
const add = (job: JobKind, payload: object = {}) =>
  world.server.db.transaction((tx) => enqueue(tx, job, payload));
const rowsOf = async (job: JobKind) =>
  (await world.server.db.pool.query('select * from jobs where kind = $1 order by id', [job.name])).rows;

test('a job runs with its payload, once its transaction is in, and not before', async () => {
  const ran: object[] = [];
  const job = kind(async (payload) => void ran.push(payload));
  await work([job]);
  await world.server.db.transaction(async (tx) => {
    await enqueue(tx, job, { n: 1 });
    await sleep(150);
    expect(ran).toEqual([]);
  });
  await expect.poll(() => ran).toEqual([{ n: 1 }]);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done', attempts: 1 }]);
});

test('a job whose transaction is rolled back never runs', async () => {
  const ran: object[] = [];
  const job = kind(async (payload) => void ran.push(payload));
  await work([job]);
  const attempt = world.server.db.transaction(async (tx) => {
    await enqueue(tx, job, {});
    throw new Error('changed my mind');
  });
  await expect(attempt).rejects.toThrow('changed my mind');
  await add(job, { after: true });
  await expect.poll(() => ran).toEqual([{ after: true }]);
});

test('a failed job is tried again, and given up in the end', async () => {
  const attempts: number[] = [];
  const flaky = kind(async (_payload, { attempt }) => {
    attempts.push(attempt);
    if (attempt < 3) throw new Error('not yet');
  });
  const hopeless = kind(async () => {
    throw new Error('never');
  }, 2);
  await work([flaky, hopeless]);
  await add(flaky);
  await add(hopeless);
  await expect.poll(() => rowsOf(flaky)).toMatchObject([{ state: 'done', attempts: 3 }]);
  expect(attempts).toEqual([1, 2, 3]);
  await expect
    .poll(() => rowsOf(hopeless))
    .toMatchObject([{ state: 'failed', attempts: 2, last_error: 'never' }]);
});

test('many workers run each job once', async () => {
  const ran: number[] = [];
  const job = kind(async (payload) => void ran.push((payload as { n: number }).n));
  for (let i = 0; i < 4; i++) await work([job]);
  await Promise.all(Array.from({ length: 60 }, (_, n) => add(job, { n })));
  await expect.poll(() => ran.length, { timeout: 10_000 }).toBe(60);
  expect([...ran].sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n));
});

test('a job whose worker died is taken over, and a lost one can not finish it', async () => {
  const ran: string[] = [];
  const job = kind(async () => void ran.push('taken over'));
  await add(job);
  // What a worker leaves behind that was killed in the middle of it.
  await world.server.db.pool.query(
    `update jobs set state = 'running', attempts = 1, lease_token = gen_random_uuid(),
       lease_until = now() + interval '300 ms' where kind = $1`,
    [job.name],
  );
  await work([job]);
  await expect.poll(() => ran, { timeout: 5000 }).toEqual(['taken over']);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done', attempts: 2 }]);
});

test('a job that takes longer than its lease keeps it', async () => {
  let runs = 0;
  const job = kind(async () => {
    runs++;
    await sleep(TIMES.leaseMs * 3);
  });
  await work([job]);
  await work([job]);
  await add(job);
  await expect.poll(() => rowsOf(job), { timeout: 10_000 }).toMatchObject([{ state: 'done', attempts: 1 }]);
  expect(runs).toBe(1);
});

test('a job that is unfinished goes on later, behind the others, and its attempts count anew', async () => {
  const ran: string[] = [];
  const short = kind(async () => void ran.push('short'));
  const long = kind(async (_payload, { attempt }) => {
    ran.push(`long ${attempt}`);
    if (ran.length === 1) {
      await add(short);
      return 'unfinished';
    }
  }, 1);
  // One at a time, as while the other loop of the worker is busy.
  let release = () => {};
  const busy = kind(() => new Promise<void>((resolve) => (release = resolve)));
  await add(busy);
  await work([busy, short, long]);
  await expect.poll(() => rowsOf(busy)).toMatchObject([{ state: 'running' }]);
  await add(long);
  await expect.poll(() => rowsOf(long)).toMatchObject([{ state: 'done', attempts: 1 }]);
  expect(ran).toEqual(['long 1', 'short', 'long 1']);
  release();
});

test('stopping waits for the running job and tells it', async () => {
  const seen: string[] = [];
  const job = kind(async (_payload, { signal }) => {
    seen.push('started');
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    seen.push('told');
  });
  const worker = await work([job]);
  await add(job);
  await expect.poll(() => seen).toEqual(['started']);
  await worker.stop();
  expect(seen).toEqual(['started', 'told']);
  expect(await rowsOf(job)).toMatchObject([{ state: 'done' }]);
});

test('a schedule queues one job a tick, however many servers run, and catches up once after a pause', async () => {
  const job = kind(async () => {});
  const schedule = { name: unique('schedule'), cron: '0 0 1 1 *', kind: job };
  for (let i = 0; i < 3; i++) await work([job], [schedule]);
  await sleep(200);
  expect(await rowsOf(job)).toHaveLength(0);
  await world.server.db.pool.query(
    "update job_schedules set last_tick = now() - interval '3 years' where name = $1",
    [schedule.name],
  );
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done' }]);
  await sleep(300);
  expect(await rowsOf(job)).toHaveLength(1);
});

test.each([
  ['* * * * *', '2026-01-01T10:00:30.000Z', '2026-01-01T10:00:59.000Z', false],
  ['* * * * *', '2026-01-01T10:00:30.000Z', '2026-01-01T10:01:00.000Z', true],
  ['0 3 * * *', '2026-01-01T03:00:00.000Z', '2026-01-02T02:59:59.000Z', false],
  ['0 3 * * *', '2026-01-01T03:00:00.000Z', '2026-01-05T00:00:00.000Z', true],
])('%s after %s is due at %s: %s', (cron, lastTick, now, due) => {
  expect(isDue(cron, lastTick, now)).toBe(due);
});

test('backoff doubles up to an hour, spread by a quarter', () => {
  const middle = () => 0.5;
  expect([1, 2, 3, 4].map((attempt) => backoff(attempt, 1000, middle))).toEqual([1000, 2000, 4000, 8000]);
  expect(backoff(40, 1000, middle)).toBe(3_600_000);
  expect([backoff(1, 1000, () => 0), backoff(1, 1000, () => 1)]).toEqual([750, 1250]);
});
