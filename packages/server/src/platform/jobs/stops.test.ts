/** How jobs end when their worker stops or their time is over. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { heldKind, jobWorkers, kind } from '../../../test/job-workers.ts';
import { observed } from '../../../test/observed-database.ts';
import type { Database } from '../db/database.ts';
import type { JobContext, JobKind } from './jobs.ts';

const jobs = jobWorkers();
const { work, add, rowsOf } = jobs;

test('a stop tells the running job and waits for it', async () => {
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

test.each([
  ['throws when it is told to stop', 10_000],
  ['does not end when it is told to stop', 50],
])('a job that %s is run by another worker, and the attempt does not count', async (how, stopWithinMs) => {
  const attempts: number[] = [];
  const job = kind(
    async (_payload, { attempt, signal }) => {
      attempts.push(attempt);
      if (attempts.length > 1) return;
      await new Promise((_, reject) => {
        if (how.startsWith('throws')) signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
    { maxAttempts: 1 },
  );
  // Only a notification can wake the other worker, because its next poll and the end of the lease are far away.
  const times = { stopWithinMs, pollMs: 600_000, leaseMs: 600_000 };
  const first = await work([job], { times });
  await add(job);
  await expect.poll(() => attempts).toEqual([1]);
  await work([job], { times });
  await first.stop();
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done', attempts: 1 }]);
  expect(attempts).toEqual([1, 1]);
});

/** The same database, but it writes progress and outcomes of jobs late. `begun` resolves when it is about to write an outcome. */
function slowToWrite(db: Database) {
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const slow = observed(db, (text) => {
    const isOutcome = /update jobs set (state = '(waiting|done|failed)'|attempts)/.test(text);
    if (isOutcome) begin();
    return isOutcome || /set progress/.test(text) ? sleep(200) : undefined;
  });
  return { db: slow, begun };
}

const NEVER = new Promise<never>(() => {});
test.each<[string, object, (context: JobContext) => Promise<unknown>, Partial<JobKind>?]>([
  ['ends', { state: 'done' }, async () => {}],
  ['is unfinished', { state: 'waiting', attempts: 0 }, async () => 'unfinished'],
  ['fails', { state: 'waiting', last_error: 'no' }, () => Promise.reject(new Error('no'))],
  [
    'fails for the last time',
    { state: 'failed', last_error: 'no' },
    () => Promise.reject(new Error('no')),
    { maxAttempts: 1 },
  ],
  [
    'takes too long',
    { state: 'failed', last_error: expect.stringContaining('longer than its limit') },
    ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
    { maxAttempts: 1, timeLimitMs: 1 },
  ],
])(
  'a worker stops only after it has written the progress and the outcome of a job that %s',
  async (_, outcome, end, options) => {
    const job = kind(async (_payload, context) => {
      context.progress({ done: 1 });
      return end(context);
    }, options);
    const { db, begun } = slowToWrite(jobs.world.server.db);
    const worker = await work([job], { db, times: { backoffMs: 3_600_000 } });
    await add(job);
    await begun;
    await worker.stop();
    expect(await rowsOf(job)).toMatchObject([{ ...outcome, progress: { done: 1 } }]);
  },
);

test.each([
  ['ends', { state: 'waiting', attempts: 0 }, 10_000],
  ['does not end', { state: 'running', attempts: 0 }, 50],
])(
  'a worker stops only after it has given back a job that %s when it is told to',
  async (how, outcome, stopWithinMs) => {
    let isRunning = false;
    const job = kind((_payload, { signal, progress }) => {
      isRunning = true;
      progress({ done: 1 });
      if (how !== 'ends') return NEVER;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const { db } = slowToWrite(jobs.world.server.db);
    const worker = await work([job], { db, times: { stopWithinMs, keepStuckMs: 600_000 } });
    await add(job);
    // Its row says so sooner.
    await expect.poll(() => isRunning).toBe(true);
    await worker.stop();
    expect(await rowsOf(job)).toMatchObject([{ ...outcome, progress: { done: 1 } }]);
  },
);

test('a job that is claimed while the worker stops is given back, and does not run', async () => {
  const ran: object[] = [];
  const job = kind(async (payload) => void ran.push(payload));
  let stopped: Promise<void> | undefined;
  const stopsAtClaim = observed(slowToWrite(jobs.world.server.db).db, (text) => {
    if (/set state = 'running'/.test(text)) stopped ??= worker.stop();
  });
  const worker = await work([job], { db: stopsAtClaim });
  await add(job);
  await expect.poll(() => stopped !== undefined).toBe(true);
  await stopped;
  expect(await rowsOf(job)).toMatchObject([{ state: 'waiting', attempts: 0, lease_token: null }]);
  expect(ran).toEqual([]);
});

test('a job that ignores a stop is not run by another worker while its process may be alive', async () => {
  const { job, release } = heldKind();
  const times = { stopWithinMs: 50, keepStuckMs: 600_000, pollMs: 20 };
  const first = await work([job], { times });
  await add(job);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'running' }]);
  await first.stop();
  const [{ lease_token }] = await rowsOf(job);
  const after = kind(async () => {});
  await work([job, after], { times, lanes: { default: 1 } });
  await add(after);
  await expect.poll(() => rowsOf(after)).toMatchObject([{ state: 'done' }]);
  expect(await rowsOf(job)).toMatchObject([{ state: 'running', attempts: 0, lease_token }]);
  release();
});

test.each([
  ['reacts to its signal', 10_000],
  ['ignores its signal', 50],
])(
  'a job that takes longer than its limit and %s is a failed attempt, and frees its lane',
  async (how, stopWithinMs) => {
    const reasons: string[] = [];
    const endless = kind(
      (_payload, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason.message);
            if (how.startsWith('reacts')) reject(new Error('told to end'));
          });
        }),
      { timeLimitMs: 100, maxAttempts: 2 },
    );
    const next = kind(async () => {});
    await work([endless, next], { times: { stopWithinMs }, lanes: { default: 1 } });
    await add(endless);
    await add(next);
    const tooLong = 'the job took longer than its limit of 0.1 seconds';
    await expect
      .poll(() => rowsOf(endless))
      .toMatchObject([{ state: 'failed', attempts: 2, last_error: tooLong }]);
    expect(reasons).toEqual([tooLong, tooLong]);
    await expect.poll(() => rowsOf(next)).toMatchObject([{ state: 'done' }]);
  },
);

test('a job that ends in order after its time limit has not failed', async () => {
  let runs = 0;
  const job = kind(
    async (_payload, { signal }) => {
      if (++runs === 2) return;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return 'unfinished';
    },
    { timeLimitMs: 100, maxAttempts: 1 },
  );
  await work([job]);
  await add(job);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done', attempts: 1 }]);
  expect(runs).toBe(2);
});

test('the time that a job may take to end begins when it is told to', async () => {
  const job = kind(() => sleep(100));
  await work([job], { times: { stopWithinMs: 1 } });
  await add(job);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done', attempts: 1 }]);
});
