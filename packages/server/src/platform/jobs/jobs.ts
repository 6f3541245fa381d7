/**
 * Background work on the same database. A job is enqueued in the transaction of the change that wants it, runs at
 * least once, is retried with backoff, and is taken over when its worker disappears.
 */
import { randomUUID } from 'node:crypto';
import { Cron } from 'croner';
import type { Database, Tx } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import type { Logger } from '../log.ts';
import * as store from './store.ts';

export const JOBS_CHANNEL = 'oriel_jobs';

export interface JobContext {
  db: Database;
  log: Logger;
  /** Which attempt this is, from 1. */
  attempt: number;
  /** Aborted when the job is no longer ours or the server stops. */
  signal: AbortSignal;
}

export interface JobKind<Payload extends object = object> {
  name: string;
  maxAttempts?: number;
  /** A job that answers `unfinished` made progress. It goes behind the others that wait, and its attempts count anew. */
  run(payload: Payload, context: JobContext): Promise<unknown>;
}

/** Puts a job into the queue at each tick of a cron pattern, in UTC. Ticks missed while no server ran count once. */
export interface Schedule {
  name: string;
  cron: string;
  kind: JobKind;
}

export interface WorkerTimes {
  pollMs: number;
  leaseMs: number;
  /** The pause after the first failed attempt; it doubles with each one, up to an hour. */
  backoffMs: number;
}

const DEFAULT_TIMES: WorkerTimes = { pollMs: 1000, leaseMs: 30_000, backoffMs: 1000 };
const BACKOFF_MAX_MS = 3_600_000;
const ATTEMPTS_DEFAULT = 10;
const CONCURRENCY = 2;

export const enqueue = <Payload extends object>(
  tx: Tx,
  kind: JobKind<Payload>,
  payload: Payload,
  options: { runAt?: Date } = {},
) =>
  store.insertJob(tx, {
    kind: kind.name,
    payload,
    runAt: options.runAt?.toISOString() ?? null,
    maxAttempts: kind.maxAttempts ?? ATTEMPTS_DEFAULT,
  });

const cleanUp: JobKind = {
  name: 'jobs.clean-up',
  run: async (_payload, { db }) => void (await store.deleteFinishedJobs(db, 7)),
};

export interface Worker {
  stop(): Promise<void>;
}

export async function startWorker(options: {
  db: Database;
  listener: Listener;
  log: Logger;
  /** Kinds that schedules name need not be named again. */
  kinds?: JobKind[];
  schedules: Schedule[];
  times?: WorkerTimes;
}): Promise<Worker> {
  const { db, listener, log, times = DEFAULT_TIMES } = options;
  const schedules = [...options.schedules, { name: 'jobs.clean-up', cron: '17 * * * *', kind: cleanUp }];
  const scheduled = schedules.map(({ kind }) => kind);
  const kinds = new Map([...(options.kinds ?? []), ...scheduled].map((kind) => [kind.name, kind]));
  const stopping = new AbortController();
  let wake = () => {};
  listener.on(JOBS_CHANNEL, () => wake());

  for (const schedule of schedules) await store.insertSchedule(db, schedule.name);

  async function runOne(): Promise<boolean> {
    const token = randomUUID();
    const job = await store.claimJob(db, [...kinds.keys()], token, times.leaseMs);
    if (!job) return false;
    const lost = new AbortController();
    const renewal = setInterval(async () => {
      const ours = await store.renewLease(db, job.id, token, times.leaseMs).catch(() => true);
      if (!ours) lost.abort();
    }, times.leaseMs / 3);
    const signal = AbortSignal.any([lost.signal, stopping.signal]);
    try {
      const outcome = await kinds.get(job.kind)!.run(job.payload, { db, log, attempt: job.attempts, signal });
      if (outcome === 'unfinished') await store.resumeLater(db, job.id, token);
      else await store.finishJob(db, job.id, token);
    } catch (error) {
      await noteFailure(job, token, error as Error);
    } finally {
      clearInterval(renewal);
    }
    return true;
  }

  async function noteFailure(job: store.JobRow, token: string, error: Error) {
    const final = job.attempts >= job.maxAttempts;
    log[final ? 'error' : 'warn'](
      { err: error, jobId: job.id, kind: job.kind, attempt: job.attempts },
      'a job failed',
    );
    if (final) await store.failJob(db, job.id, token, error.message);
    else await store.retryJob(db, job.id, token, error.message, backoff(job.attempts, times.backoffMs));
  }

  async function tick(schedule: Schedule) {
    await db.transaction(async (tx) => {
      const { lastTick, now } = await store.lockSchedule(tx, schedule.name);
      if (!isDue(schedule.cron, lastTick, now)) return;
      await store.updateSchedule(tx, schedule.name, now);
      await enqueue(tx, schedule.kind, {});
    });
  }

  async function work(loop: number) {
    while (!stopping.signal.aborted) {
      const busy = await (async () => {
        if (loop === 0) {
          await store.releaseAbandonedJobs(db);
          for (const schedule of schedules) await tick(schedule);
        }
        return runOne();
      })().catch((error) => {
        log.warn({ err: error }, 'the job worker could not reach its queue');
        return false;
      });
      if (!busy) await rest();
    }
  }

  const resting = new Set<() => void>();
  wake = () => {
    for (const resume of [...resting]) resume();
  };
  const rest = () =>
    new Promise<void>((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        resting.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, times.pollMs);
      resting.add(resume);
    });

  const loops = Array.from({ length: CONCURRENCY }, (_, loop) => work(loop));

  return {
    /** Waits for running jobs, which are told to stop by their signal. */
    async stop() {
      stopping.abort();
      wake();
      await Promise.all(loops);
    },
  };
}

/** Doubles with each attempt, and is spread by a quarter so that what failed together is not retried together. */
export function backoff(attempts: number, baseMs: number, random = Math.random): number {
  const pause = Math.min(baseMs * 2 ** (attempts - 1), BACKOFF_MAX_MS);
  return Math.round(pause * (0.75 + random() / 2));
}

export function isDue(cron: string, lastTick: string, now: string): boolean {
  const next = new Cron(cron, { timezone: 'UTC', paused: true }).nextRun(new Date(lastTick));
  return next !== null && next.getTime() <= Date.parse(now);
}
