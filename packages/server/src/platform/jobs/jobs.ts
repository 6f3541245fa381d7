/**
 * Background work on the same database. A job is enqueued in the transaction of the change that needs it, runs at least
 * once, is retried with backoff, and is taken over by another worker if its worker disappears.
 */
import type { Database, Tx } from '../db/database.ts';
import type { Logger } from '../log.ts';
import type { Lane } from './lanes.ts';
import * as store from './store.ts';

export const JOBS_CHANNEL = 'oriel_jobs';

export interface JobContext {
  db: Database;
  log: Logger;
  /** The same at each attempt. */
  jobId: number;
  /** Which attempt this is, from 1. */
  attempt: number;
  /**
   * Aborted when the job is no longer ours, its time is over or the worker stops. An error that the job throws after a
   * stop does not count as a failed attempt.
   */
  signal: AbortSignal;
  /** Reports the progress of the job. May be called often: it is written at most once a second. */
  progress(progress: store.JobProgress): void;
}

/** A job whose payload has a `deploymentId` ends with that deployment. */
export interface JobKind<Payload extends object = object> {
  name: string;
  lane?: Lane;
  maxAttempts?: number;
  /**
   * How long one run may take; by default half an hour. After that, the signal is aborted. If the job then throws, or
   * does not end soon, it is a failed attempt. A job that ignores its signal may still run while it is tried again.
   */
  timeLimitMs?: number;
  /**
   * A job that returns `unfinished` made progress. It goes behind the other waiting jobs, and its attempts are counted
   * from zero again.
   */
  run(payload: Payload, context: JobContext): Promise<unknown>;
}

const ATTEMPTS_DEFAULT = 10;
const BACKOFF_MAX_MS = 3_600_000;

export const newJob = (
  kind: JobKind,
  payload: object,
  { runAt, schedule = null }: { runAt?: Date; schedule?: string | null } = {},
): store.NewJob => ({
  kind: kind.name,
  lane: kind.lane ?? 'default',
  payload,
  runAt: runAt?.toISOString() ?? null,
  maxAttempts: kind.maxAttempts ?? ATTEMPTS_DEFAULT,
  schedule,
});

/** Returns the id of the job, for `findJobProgress`. */
export async function enqueue<Payload extends object>(
  tx: Tx,
  kind: JobKind<Payload>,
  payload: Payload,
  options: { runAt?: Date } = {},
): Promise<{ id: number }> {
  const [job] = await store.insertJobs(tx, [newJob(kind as JobKind, payload, options)]);
  return job!;
}

/**
 * Returns the pause before the next attempt. It doubles with each attempt, and varies by a quarter at random, so that
 * jobs that failed together are not retried together.
 */
export function backoff(attempts: number, baseMs: number, random = Math.random): number {
  const pause = Math.min(baseMs * 2 ** (attempts - 1), BACKOFF_MAX_MS);
  return Math.round(pause * (0.75 + random() / 2));
}
