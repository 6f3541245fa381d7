import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { holdRows } from '../../../test/hold.ts';
import { heldKind, jobWorkers, kind } from '../../../test/job-workers.ts';
import { unique } from '../../../test/world.ts';
import type { Database } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import { backoff, enqueue, JOBS_CHANNEL, type JobContext, type JobKind } from './jobs.ts';
import { FAIR_LANES, type Lane } from './lanes.ts';
import { claimJob, findJobProgress, findNextDue, releaseAbandonedJobs } from './store.ts';

const NO_POLL = { times: { pollMs: 600_000 } };

const jobs = jobWorkers();
const { work, add, rowsOf, abandon } = jobs;

/** The same database, but reports each statement before it runs, which waits for the promise that it gets. */
function observed(db: Database, tell: (text: string) => unknown): Database {
  return new Proxy(db, {
    get(_, name) {
      const value = Reflect.get(db, name) as unknown;
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const told =
          name === 'as' ? undefined : tell(name === 'transaction' ? 'begin' : (args[0] as Sql).text);
        return told instanceof Promise ? told.then(() => value.apply(db, args)) : value.apply(db, args);
      };
    },
  });
}

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

test('no worker gets a job before its time', async () => {
  const { db } = jobs.world.server;
  const lease = { token: randomUUID(), workerId: randomUUID(), leaseMs: 60_000 };
  const later = kind(async () => {}, { lane: 'syncs' });
  await add(later, { deploymentId: 1 }, { runAt: new Date(Date.now() + 3_600_000) });
  for (const served of [undefined, []])
    expect(await claimJob(db, 'syncs', [later.name], lease, served)).toBeUndefined();
});

test('many workers run each job once', async () => {
  const ran: number[] = [];
  const job = kind(async (payload) => void ran.push((payload as { n: number }).n));
  for (let i = 0; i < 4; i++) await work([job]);
  await Promise.all(Array.from({ length: 60 }, (_, n) => add(job, { n })));
  await expect.poll(() => ran.length).toBe(60);
  expect([...ran].sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n));
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

test.each(FAIR_LANES as Lane[])(
  'in the fair lane %s, deployments take turns, and each has one job at a time',
  async (lane) => {
    const ran: string[] = [];
    let running = 0;
    const job = kind(
      async (payload) => {
        const { deploymentId, n } = payload as { deploymentId: number; n: number };
        ran.push(`${deploymentId}/${n}`);
        if (deploymentId === 1) expect(++running).toBe(1);
        await sleep(50);
        if (deploymentId === 1) running--;
      },
      { lane, maxAttempts: 1 },
    );
    for (const n of [1, 2, 3, 4]) await add(job, { deploymentId: 1, n });
    for (const n of [1, 2]) await add(job, { deploymentId: 2, n });
    await add(job, { deploymentId: 3, n: 1 });
    const alone = await work([job], { lanes: { [lane]: 1 } });
    await expect.poll(() => ran.length).toBe(7);
    expect(ran).toEqual(['1/1', '2/1', '3/1', '1/2', '2/2', '1/3', '1/4']);
    await alone.stop();

    ran.length = 0;
    for (const n of [1, 2, 3, 4]) await add(job, { deploymentId: 1, n });
    await work([job], { lanes: { [lane]: 3 } });
    await expect.poll(() => ran.length, { timeout: 20_000 }).toBe(4);
    await expect.poll(async () => (await rowsOf(job)).every(({ state }) => state === 'done')).toBe(true);
  },
);

test('in a fair lane, whoever shares a deployment takes turns in it, and does not count against other deployments', async () => {
  const ran: string[] = [];
  const job = kind(
    async (payload) => {
      const { deploymentId, sharer, n } = payload as { deploymentId: number; sharer?: string; n: number };
      ran.push(`${deploymentId}${sharer ?? ''}/${n}`);
    },
    { lane: 'notifications', maxAttempts: 1 },
  );
  for (const n of [1, 2, 3]) await add(job, { deploymentId: 1, sharer: 'a', n });
  for (const n of [1, 2]) await add(job, { deploymentId: 1, sharer: 'b', n });
  await add(job, { deploymentId: 1, n: 1 });
  for (const n of [1, 2]) await add(job, { deploymentId: 2, n });
  await work([job], { lanes: { notifications: 1 } });
  await expect.poll(() => ran.length).toBe(8);
  expect(ran).toEqual(['1a/1', '2/1', '1b/1', '2/2', '1/1', '1a/2', '1b/2', '1a/3']);
});

test('in a fair lane, a running job holds up neither other deployments, nor its own one in other lanes', async () => {
  const { job: held, release } = heldKind({ lane: 'syncs' });
  const ran: string[] = [];
  const [same, other] = (['syncs', 'remotes'] as const).map((lane) =>
    kind(async (payload) => void ran.push(`${lane} ${(payload as { deploymentId: number }).deploymentId}`), {
      lane,
    }),
  ) as [JobKind, JobKind];
  await work([held, same, other], { lanes: { syncs: 2, remotes: 1 } });
  await add(held, { deploymentId: 1 });
  await expect.poll(() => rowsOf(held)).toMatchObject([{ state: 'running' }]);
  await add(same, { deploymentId: 1 });
  await add(same, { deploymentId: 2 });
  await add(other, { deploymentId: 1 });
  await expect.poll(() => ran.toSorted()).toEqual(['remotes 1', 'syncs 2']);
  release();
  await expect.poll(() => ran).toContain('syncs 1');
});

test('long jobs of one lane delay neither another lane nor the take-over of abandoned jobs', async () => {
  const held = [1, 2].map(() => heldKind({ lane: 'removals' }));
  const ran: string[] = [];
  const waiting = kind(async () => void ran.push('same lane'), { lane: 'removals' });
  const mail = kind(async () => void ran.push('other lane'));
  const abandoned = kind(async () => void ran.push('taken over'));
  for (const { job } of held) await add(job);
  await work([...held.map(({ job }) => job), waiting, mail, abandoned], {
    ...NO_POLL,
    lanes: { default: 1, removals: 2 },
  });
  for (const { job } of held) await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'running' }]);
  await add(waiting);
  await add(mail);
  await expect.poll(() => ran).toEqual(['other lane']);
  await jobs.query(
    `insert into jobs (kind, max_attempts, state, lease_token, lease_until)
     values ($1, 5, 'running', gen_random_uuid(), now() + interval '200 ms')`,
    [abandoned.name],
  );
  // There is no notification for this lease. The clock finds it when it wakes for another reason.
  await add(mail);
  await expect.poll(() => [...ran].sort()).toEqual(['other lane', 'other lane', 'taken over']);
  for (const { release } of held) release();
  await expect.poll(() => ran).toContain('same lane');
});

test('a lane runs no more jobs at once than its limit', async () => {
  let running = 0;
  let most = 0;
  const job = kind(
    async () => {
      most = Math.max(most, ++running);
      // On a busy machine the first jobs would end before the next ones start.
      while (most < 3) await sleep(5);
      await sleep(20);
      running--;
    },
    { lane: 'removals' },
  );
  for (let i = 0; i < 12; i++) await add(job);
  await work([job], { lanes: { default: 5, removals: 3 } });
  await expect.poll(async () => (await rowsOf(job)).filter(({ state }) => state === 'done').length).toBe(12);
  expect(most).toBe(3);
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
  await releaseAbandonedJobs(jobs.world.server.db, id);
  expect(await rowsOf(job)).toEqual([before]);
  await other.release();
  await releaseAbandonedJobs(jobs.world.server.db, id);
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

test('a run that lost its job cannot finish it', async () => {
  const { job, release } = heldKind();
  await work([job]);
  await add(job);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'running' }]);
  // Another worker has it.
  const token = randomUUID();
  await jobs.query(
    `update jobs set lease_token = $2, lease_until = now() + interval '1 hour' where kind = $1`,
    [job.name, token],
  );
  release();
  await sleep(300);
  expect(await rowsOf(job)).toMatchObject([{ state: 'running', lease_token: token }]);
});

const passOn = (job: JobKind) =>
  jobs.query(`update jobs set lease_token = $2, lease_until = now() + interval '1 hour' where kind = $1`, [
    job.name,
    randomUUID(),
  ]);

test.each<[string, number, (context: JobContext) => Promise<unknown>]>([
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
  // Whoever takes it over finishes it, and the first run does not undo that.
  await expect.poll(() => failuresWhenTold, { timeout: 30_000 }).toHaveLength(1);
  expect(failuresWhenTold[0]).toBeGreaterThan(1);
  await expect.poll(() => rowsOf(job), { timeout: 30_000 }).toMatchObject([{ state: 'done', attempts: 2 }]);
}, 60_000);

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
  await expect.poll(() => jobs.query(lastsLonger, [job.name, firstEnd])).toHaveLength(1);
  release();
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done', attempts: 1 }]);
  expect(runs).toBe(1);
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
    const job = kind((_payload, { signal, progress }) => {
      progress({ done: 1 });
      if (how !== 'ends') return NEVER;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const { db } = slowToWrite(jobs.world.server.db);
    const worker = await work([job], { db, times: { stopWithinMs, keepStuckMs: 600_000 } });
    await add(job);
    await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'running' }]);
    await worker.stop();
    expect(await rowsOf(job)).toMatchObject([{ ...outcome, progress: { done: 1 } }]);
  },
);

test('the time that a job may take to end begins when it is told to', async () => {
  const job = kind(() => sleep(100));
  await work([job], { times: { stopWithinMs: 1 } });
  await add(job);
  await expect.poll(() => rowsOf(job)).toMatchObject([{ state: 'done', attempts: 1 }]);
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

test('a worker that has started has written its schedules', async () => {
  const name = unique('schedule');
  const db = observed(jobs.world.server.db, (text) => (text === 'begin' ? sleep(200) : undefined));
  await work([], { db, schedules: [{ name, cron: '0 0 1 1 *', kind: kind(async () => {}) }] });
  expect(await jobs.query('select name from job_schedules where name = $1', [name])).toEqual([{ name }]);
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
  // It is told when its lease is renewed.
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
