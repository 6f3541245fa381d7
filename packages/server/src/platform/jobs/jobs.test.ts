import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { heldKind, jobWorkers, kind, NO_POLL } from '../../../test/job-workers.ts';
import { observed } from '../../../test/observed-database.ts';
import { backoff, enqueue } from './jobs.ts';
import { findJobProgress } from './store.ts';

const jobs = jobWorkers();
const { work, add, rowsOf } = jobs;

test('a job runs with its payload after its transaction is committed, and not before', async () => {
  const ran: object[] = [];
  const job = kind(async (payload) => void ran.push(payload));
  await work([job]);
  await jobs.world.server.db.transaction(async (tx) => {
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
  const attempt = jobs.world.server.db.transaction(async (tx) => {
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
  const hopeless = kind(
    async () => {
      throw new Error('never');
    },
    { maxAttempts: 2 },
  );
  await work([flaky, hopeless], NO_POLL);
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
  await expect.poll(() => ran.length).toBe(60);
  expect([...ran].sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n));
});

test('an unfinished job continues later, behind the others, and its attempts are counted from zero', async () => {
  const ran: string[] = [];
  const short = kind(async () => void ran.push('short'));
  const long = kind(
    async (_payload, { attempt }) => {
      ran.push(`long ${attempt}`);
      if (ran.length === 1) {
        await add(short);
        return 'unfinished';
      }
    },
    { maxAttempts: 1 },
  );
  await work([short, long], { lanes: { default: 1 } });
  await add(long);
  await expect.poll(() => rowsOf(long)).toMatchObject([{ state: 'done', attempts: 1 }]);
  expect(ran).toEqual(['long 1', 'short', 'long 1']);
});

test('a job that tells no progress warns of nothing', async () => {
  const warnings: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void warnings.push(line) });
  const job = kind(async () => {});
  const worker = await work([job], { log });
  await add(job);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done' }]);
  await worker.stop();
  expect(warnings).toEqual([]);
});

test('the progress of a job is written rarely, and at the end', async () => {
  const { db } = jobs.world.server;
  let writes = 0;
  const counted = observed(db, (text) => {
    if (/set progress/.test(text)) writes++;
  });
  let go = () => {};
  const halfWay = new Promise<void>((resolve) => {
    go = resolve;
  });
  const job = kind(async (_payload, { progress }) => {
    for (let done = 1; done <= 500; done++) progress({ done, total: 1000, message: 'first half' });
    await halfWay;
    for (let done = 501; done <= 1000; done++) {
      progress({ done, total: 1000 });
      if (done % 100 === 0) await sleep(20);
    }
  });
  const { id } = await add(job);
  expect(await findJobProgress(db, id)).toMatchObject({ state: 'waiting', progress: null });
  await work([job], { db: counted, times: { progressMs: 600_000 } });
  const half = { done: 500, total: 1000, message: 'first half' };
  await expect.poll(() => findJobProgress(db, id)).toMatchObject({ state: 'running', progress: half });
  go();
  await expect
    .poll(() => findJobProgress(db, id))
    .toMatchObject({ state: 'done', progress: { done: 1000, total: 1000 }, finishedAt: expect.any(String) });
  expect(writes).toBe(2);
  expect(await findJobProgress(db, 0)).toBeUndefined();
});

test('the metrics count jobs by lane and state', async () => {
  const { job, release } = heldKind({ lane: 'removals' });
  const given = kind(async () => Promise.reject(new Error('no')), { maxAttempts: 1 });
  const later = kind(async () => {});
  await work([job, given]);
  await add(job);
  await add(given);
  await add(later, {}, { runAt: new Date(Date.now() + 3_600_000) });
  await expect.poll(() => rowsOf(given)).toMatchObject([{ state: 'failed' }]);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'running' }]);
  const counted = async (state: string, lane: string) =>
    (await jobs.query('select count(*)::int as n from jobs where state = $1 and lane = $2', [state, lane]))[0]
      .n;
  // The server runs jobs of its own meanwhile.
  const missing = async () => {
    const text = await (await fetch(`${jobs.world.url}/metrics`)).text();
    const lines = await Promise.all(
      [
        ['running', 'removals'],
        ['waiting', 'default'],
        ['failed', 'default'],
        ['failed', 'removals'],
      ].map(async ([state, lane]) => `oriel_jobs_${state}{lane="${lane}"} ${await counted(state!, lane!)}\n`),
    );
    return lines.filter((line) => !text.includes(line));
  };
  await expect.poll(missing).toEqual([]);
  release();
});

test('backoff doubles up to an hour, and varies by a quarter', () => {
  const middle = () => 0.5;
  expect([1, 2, 3, 4].map((attempt) => backoff(attempt, 1000, middle))).toEqual([1000, 2000, 4000, 8000]);
  expect(backoff(40, 1000, middle)).toBe(3_600_000);
  expect([backoff(1, 1000, () => 0), backoff(1, 1000, () => 1)]).toEqual([750, 1250]);
});

test('jobs that ended long ago are deleted, and no others', async () => {
  const ended = kind(async () => {});
  for (let i = 0; i < 4; i++) await add(ended);
  const [first, ...others] = await rowsOf(ended);
  const set = (id: string, state: string, days: number | null) =>
    jobs.query('update jobs set state = $2, finished_at = now() - make_interval(days => $3) where id = $1', [
      id,
      state,
      days,
    ]);
  await set(first!.id, 'waiting', null);
  for (const [i, { id }] of others.entries()) await set(id, ['done', 'failed', 'done'][i]!, [1, 60, 60][i]!);
  await jobs.query("update job_schedules set next_run_at = now() where name = 'jobs.clean-up'");
  await expect.poll(() => rowsOf(ended)).toHaveLength(2);
  expect(await rowsOf(ended)).toMatchObject([{ state: 'waiting' }, { state: 'done' }]);
});

test('the jobs of a deleted deployment end: waiting ones never run, and running ones are told to stop', async () => {
  const { id: deploymentId } = await jobs.world.deployment();
  const { id: otherId } = await jobs.world.deployment();
  const ran: number[] = [];
  const stopped: number[] = [];
  const job = kind(async (payload, { signal }) => {
    const { deploymentId: of } = payload as { deploymentId: number };
    ran.push(of);
    if (of !== otherId) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      stopped.push(of);
    }
  });
  const ended = kind(async () => {});
  await add(ended, { deploymentId });
  // A running job is told of the deletion when its lease is renewed.
  await work([job, ended], { times: { leaseMs: 9000 } });
  await expect.poll(() => rowsOf(ended)).toMatchObject([{ state: 'done' }]);
  await add(job, { deploymentId });
  await add(job, { deploymentId }, { runAt: new Date(Date.now() + 3_600_000) });
  await add(job, { deploymentId: otherId });
  await add(job, { deploymentId: otherId }, { runAt: new Date(Date.now() + 3_600_000) });
  await expect.poll(() => ran.toSorted()).toEqual([deploymentId, otherId]);
  await jobs.world.admin.deleteDeployment({ deploymentId });
  await expect.poll(() => stopped).toEqual([deploymentId]);
  const ofOther = { payload: { deploymentId: otherId } };
  expect(await rowsOf(job)).toMatchObject([
    { ...ofOther, state: 'done' },
    { ...ofOther, state: 'waiting' },
  ]);
  // How it ended can still be asked.
  expect(await rowsOf(ended)).toMatchObject([{ state: 'done' }]);
});
