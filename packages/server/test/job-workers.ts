/** Additional workers for kinds of jobs that only one test uses. */
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Listener } from '../src/platform/db/listener.ts';
import { enqueue, JOBS_CHANNEL, type JobKind } from '../src/platform/jobs/jobs.ts';
import { startWorker, type Worker, type WorkerOptions } from '../src/platform/jobs/worker.ts';
import { startListening } from './listening.ts';
import { createOwnWorld, unique, type World } from './world.ts';

export const TIMES = {
  pollMs: 50,
  // Long enough that a busy machine does not lose a job by renewing its lease late.
  leaseMs: 60_000,
  backoffMs: 10,
  progressMs: 20,
  stopWithinMs: 10_000,
  keepStuckMs: 300,
};

/** Only a notification or a due time wakes the clock of such a worker. */
export const NO_POLL = { times: { pollMs: 600_000 } };

/** Each test has its own kind of job, so that no worker takes the jobs of another test. */
export const kind = (run: JobKind['run'], options: Partial<JobKind> = {}): JobKind => ({
  name: unique('kind'),
  run,
  ...options,
});

/** A job that runs until it is released. */
export function heldKind(options: Partial<JobKind> = {}) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { job: kind(() => released, options), release };
}

export function jobWorkers() {
  let world: World;
  let listener: Listener;
  const log = pino({ level: 'silent' });
  const workers: Worker[] = [];

  beforeAll(async () => {
    world = await createOwnWorld();
    listener = await startListening(world.databaseUrl, JOBS_CHANNEL);
  });
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.stop();
  });
  afterAll(async () => {
    await listener?.end();
    await world?.stop();
  });

  const query = async (text: string, values: unknown[] = []) =>
    (await world.server.db.pool.query(text, values)).rows;

  return {
    get world() {
      return world;
    },
    get listener() {
      return listener;
    },
    async work(kinds: JobKind[], options: Partial<WorkerOptions> = {}) {
      const times = { ...TIMES, ...options.times };
      const all = { db: world.server.db, listener, log, kinds, schedules: [], ...options, times };
      const worker = await startWorker(all);
      workers.push(worker);
      return worker;
    },
    query,
    add: (job: JobKind, payload: object = {}, options: { runAt?: Date } = {}) =>
      world.server.db.transaction((tx) => enqueue(tx, job, payload, options)),
    rowsOf: (job: JobKind) => query('select * from jobs where kind = $1 order by id', [job.name]),
    /** Leaves the state that a worker leaves if it is killed in the middle of its job. */
    abandon: (job: JobKind, { workerId = null as string | null, leaseMs = 300 } = {}) =>
      query(
        `update jobs set state = 'running', attempts = attempts + 1, lease_token = gen_random_uuid(), worker_id = $2,
           lease_until = now() + $3 * interval '1 ms' where kind = $1`,
        [job.name, workerId, leaseMs],
      ),
  };
}
