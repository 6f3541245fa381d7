/**
 * Background work on the same database. A job is enqueued in the transaction of the change that wants it, runs at
 * least once, is retried with backoff, and is taken over when its worker disappears.
 */
import type { Database, Tx } from '../db/database.ts';
import type { Logger } from '../log.ts';
import type { Lane } from './lanes.ts';
import * as store from './store.ts';

export const JOBS_CHANNEL = 'oriel_jobs';

export interface JobContext {
  db: Database;
  log: Logger;
  /** Which attempt this is, from 1. */
  attempt: number;
  /** Aborted when the job is no longer ours or the worker stops. What the job throws then is not a failed attempt. */
  signal: AbortSignal;
  /** Tells how far the job is. May be called often: it is written once a second at the most. */
  progress(progress: store.JobProgress): void;
}

export interface JobKind<Payload extends object = object> {
  name: string;
  lane?: Lane;
  maxAttempts?: number;
  /** A job that returns `unfinished` made progress. It goes behind the others that wait, and its attempts count anew. */
  run(payload: Payload, context: JobContext): Promise<unknown>;
}

const ATTEMPTS_DEFAULT = 10;
const BACKOFF_MAX_MS = 3_600_000;

export const newJob = (kind: JobKind, payload: object, runAt?: Date): store.NewJob => ({
  kind: kind.name,
  lane: kind.lane ?? 'default',
  payload,
  runAt: runAt?.toISOString() ?? null,
  maxAttempts: kind.maxAttempts ?? ATTEMPTS_DEFAULT,
});

/** Returns the id of the job, under which `findJobProgress` finds it. */
export async function enqueue<Payload extends object>(
  tx: Tx,
  kind: JobKind<Payload>,
  payload: Payload,
  options: { runAt?: Date } = {},
): Promise<{ id: number }> {
  const [job] = await store.insertJobs(tx, [newJob(kind as JobKind, payload, options.runAt)]);
  return job!;
}

/** Doubles with each attempt, and is spread by a quarter so that what failed together is not retried together. */
export function backoff(attempts: number, baseMs: number, random = Math.random): number {
  const pause = Math.min(baseMs * 2 ** (attempts - 1), BACKOFF_MAX_MS);
  return Math.round(pause * (0.75 + random() / 2));
}
