/** Which worker has a job, how long it keeps it, and who takes it over. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { holdRows } from '../../../test/hold.ts';
import { heldKind, jobWorkers, kind, NO_POLL } from '../../../test/job-workers.ts';
import { observed } from '../../../test/observed-database.ts';
import type { JobContext, JobKind } from './jobs.ts';
import { claimJob, requeueExpiredJobs } from './store.ts';

const jobs = jobWorkers();
const { work, add, rowsOf, abandon } = jobs;

test.each([
  ['lane', undefined],
  ['fair lane', []],
])('in a %s, a job that another worker is just taking is left to it', async (_, served) => {
  const job = kind(async () => {}, { lane: 'syncs' });
  for (const deploymentId of [1, 2]) await add(job, { deploymentId });
  const [first] = await rowsOf(job);
  const other = await holdRows(jobs.world, 'jobs', [first.id]);
  const lease = { token: randomUUID(), workerId: randomUUID(), leaseMs: 60_000 };
  const taken = await claimJob(jobs.world.server.db, 'syncs', [job.name], lease, served);
  await other.release();
  expect(taken).toMatchObject({ payload: { deploymentId: 2 } });
  await jobs.query('delete from jobs where kind = $1', [job.name]);
});

test('a job whose worker died is taken over, and the attempt counts', async () => {
  const ran: string[] = [];
  const job = kind(async () => void ran.push('taken over'));
  await add(job);
  await abandon(job);
  await work([job], NO_POLL);
  await expect.poll(() => ran).toEqual(['taken over']);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done', attempts: 2 }]);
});

test('a worker that replaces a dead one releases its jobs at once', async () => {
  const [ours, others] = [kind(async () => {}), kind(async () => {})];
  const id = randomUUID();
  await add(ours);
  await add(others);
  await abandon(ours, { workerId: id, leaseMs: 600_000 });
  await abandon(others, { workerId: randomUUID(), leaseMs: 600_000 });
  await work([ours, others], { id });
  await expect.poll(() => rowsOf(ours)).toMatchObject([{ state: 'done', attempts: 2 }]);
  expect(await rowsOf(others)).toMatchObject([{ state: 'running', attempts: 1 }]);
});

test('a job of a dead worker that another server is just taking back is left to it', async () => {
  const job = kind(async () => {});
  await add(job);
  const id = randomUUID();
  await abandon(job, { workerId: id, leaseMs: 600_000 });
  const [before] = await rowsOf(job);
  const other = await holdRows(jobs.world, 'jobs', [before.id]);
  await requeueExpiredJobs(jobs.world.server.db, id);
  expect(await rowsOf(job)).toEqual([before]);
  await other.release();
  await requeueExpiredJobs(jobs.world.server.db, id);
  expect(await rowsOf(job)).toMatchObject([{ state: 'waiting', last_error: 'the worker disappeared' }]);
});

test('a job that kills its workers is given up in the end', async () => {
  const job = kind(async () => {}, { maxAttempts: 2 });
  await add(job);
  const id = randomUUID();
  for (let worker = 1; worker <= 2; worker++) {
    await abandon(job, { workerId: id, leaseMs: 600_000 });
    const { stop } = await work([], { id });
    await stop();
  }
  expect(await rowsOf(job)).toMatchObject([
    { state: 'failed', attempts: 2, last_error: 'the worker disappeared' },
  ]);
});

test('a job that takes longer than its lease keeps it', async () => {
  // It is renewed at a third of it. The rest is for a busy machine that renews it late.
  const leaseMs = 9000;
  let runs = 0;
  const { job: held, release } = heldKind();
  const job = kind(async (...args) => {
    runs++;
    return held.run(...args);
  });
  await work([job], { times: { leaseMs } });
  await work([job], { times: { leaseMs } });
  await add(job);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'running' }]);
  const [{ lease_until: firstEnd }] = await rowsOf(job);
  const lastsLonger = 'select from jobs where kind = $1 and $2 < now() and lease_until > now()';
  await expect.poll(() => jobs.query(lastsLonger, [job.name, firstEnd]), { timeout: 30_000 }).toHaveLength(1);
  release();
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done', attempts: 1 }]);
  expect(runs).toBe(1);
});

test('a run whose lease cannot be renewed goes on for as long as the lease lasts, and is then told to end', async () => {
  let failures = 0;
  let isCut = true;
  const db = observed(jobs.world.server.db, (text) => {
    if (!isCut || !/update jobs set lease_until/.test(text)) return;
    failures++;
    throw new Error('the database cannot be reached');
  });
  const failuresWhenTold: number[] = [];
  const job = kind(async (_payload, { signal, attempt }) => {
    if (attempt > 1) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    failuresWhenTold.push(failures);
    isCut = false;
    signal.throwIfAborted();
  });
  await work([job], { db, times: { leaseMs: 3000 } });
  await add(job);
  // The worker that takes the job over finishes it, and the first run does not undo that.
  await expect.poll(() => failuresWhenTold, { timeout: 30_000 }).toHaveLength(1);
  expect(failuresWhenTold[0]).toBeGreaterThan(1);
  await expect.poll(() => rowsOf(job), { timeout: 30_000 }).toMatchObject([{ state: 'done', attempts: 2 }]);
}, 60_000);

/** Gives the lease to another worker. */
const passOn = (job: JobKind) =>
  jobs.query(`update jobs set lease_token = $2, lease_until = now() + interval '1 hour' where kind = $1`, [
    job.name,
    randomUUID(),
  ]);

test('a run that lost its job is told to end', async () => {
  let isTold = false;
  const job = kind(async (_payload, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    isTold = true;
  });
  await work([job], { times: { leaseMs: 3000 } });
  await add(job);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'running' }]);
  await passOn(job);
  await expect.poll(() => isTold).toBe(true);
});

test.each<[string, number, (context: JobContext) => Promise<unknown>]>([
  ['ends', 5, async () => {}],
  ['fails', 5, () => Promise.reject(new Error('too late'))],
  ['fails for the last time', 1, () => Promise.reject(new Error('too late'))],
  ['is unfinished', 5, async () => 'unfinished'],
  ['reports progress', 5, async ({ progress }) => progress({ done: 1 })],
])('a run that lost its job, and then %s, changes nothing of it', async (_, maxAttempts, end) => {
  const { job: held, release } = heldKind();
  const job = kind(async (payload, context) => held.run(payload, context).then(() => end(context)), {
    maxAttempts,
  });
  const after = kind(async () => {});
  await work([job, after], { lanes: { default: 1 } });
  await add(job);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'running' }]);
  await passOn(job);
  const before = await rowsOf(job);
  await add(after);
  release();
  // The lane takes it when the run before it has ended.
  await expect.poll(() => rowsOf(after)).toMatchObject([{ state: 'done' }]);
  expect(await rowsOf(job)).toEqual(before);
});

test.each([
  ['ends at the stop of its worker', 10_000],
  ['ignores the stop of its worker', 50],
])('a run that lost its job, and then %s, changes nothing of it', async (how, stopWithinMs) => {
  const job = kind(
    (_payload, { signal }) =>
      new Promise((_, reject) => {
        if (how.startsWith('ends')) signal.addEventListener('abort', () => reject(signal.reason));
      }),
  );
  const worker = await work([job], { times: { stopWithinMs } });
  await add(job);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'running' }]);
  await passOn(job);
  const before = await rowsOf(job);
  await worker.stop();
  expect(await rowsOf(job)).toEqual(before);
});
