/** Runs one job once: keeps its lease, writes its progress, and records its outcome. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import { backoff, type JobKind } from './jobs.ts';
import * as store from './store.ts';

export interface RunTimes {
  leaseMs: number;
  /** The pause after the first failed attempt; it doubles with each one, up to an hour. */
  backoffMs: number;
  /** The shortest time between two writes of the progress. */
  progressMs: number;
  /** How long a job that was told to end may take to do so. */
  stopWithinMs: number;
  /**
   * How long a worker keeps a job that did not end at a stop, because the job still runs. The process of the worker has
   * ended by then.
   */
  keepStuckMs: number;
}

/** For kinds that have no time limit of their own. */
export const TIME_LIMIT_MS = 30 * 60_000;

class JobTimeoutError extends Error {
  constructor(limitMs: number) {
    super(`the job took longer than its limit of ${limitMs / 1000} seconds`);
  }
}
class StillRunsError extends Error {
  constructor() {
    super('the job did not end when it was told to');
  }
}

interface Run {
  db: Database;
  log: Logger;
  kind: JobKind;
  job: store.JobRow;
  lease: store.Lease;
  times: RunTimes;
  stopping: AbortSignal;
}

export async function runJob(run: Run): Promise<void> {
  const { db, job, lease, kind, times, stopping } = run;
  const log = run.log.child({ jobId: job.id, kind: job.kind });
  const renewal = keepLease(run);
  const progress = progressOf(run);
  const over = new AbortController();
  const limit = timeLimit(kind.timeLimitMs ?? TIME_LIMIT_MS);
  const toldToEnd = AbortSignal.any([stopping, limit.over]);
  try {
    const signal = AbortSignal.any([renewal.lost, toldToEnd]);
    const context = { db, log, jobId: job.id, attempt: job.attempts, signal, progress: progress.tell };
    const outcome = await Promise.race([
      kind.run(job.payload, context),
      stillRuns(toldToEnd, times.stopWithinMs, over.signal),
    ]);
    await progress.flush();
    if (outcome === 'unfinished') await store.requeueUnfinishedJob(db, job.id, lease);
    else await store.finishJob(db, job.id, lease);
  } catch (error) {
    await progress.flush();
    if (toldToEnd.reason instanceof JobTimeoutError) await noteFailure(run, log, toldToEnd.reason);
    else if (!stopping.aborted) await noteFailure(run, log, error as Error);
    else {
      log.info({ err: error }, 'a job was interrupted by the stop, and returns to the queue');
      if (error instanceof StillRunsError) await store.leaveJob(db, job.id, lease, times.keepStuckMs);
      else await store.releaseJob(db, job.id, lease);
    }
  } finally {
    limit.clear();
    over.abort();
    renewal.end();
  }
}

function timeLimit(limitMs: number) {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new JobTimeoutError(limitMs)), limitMs);
  return { over: over.signal, clear: () => clearTimeout(timer) };
}

/** Rejects if a job was told to end and does not end in time. */
async function stillRuns(toldToEnd: AbortSignal, withinMs: number, over: AbortSignal): Promise<never> {
  if (!toldToEnd.aborted) {
    await new Promise((resolve) => {
      toldToEnd.addEventListener('abort', resolve, { once: true, signal: over });
    });
  }
  await sleep(withinMs, undefined, { signal: over });
  throw new StillRunsError();
}

/** Renews the lease until the run ends. The lease is lost when another worker has the job, or could have it. */
function keepLease({ db, log, job, lease, times }: Run) {
  const lost = new AbortController();
  let renewedAt = Date.now();
  const renew = async () => {
    const startedAt = Date.now();
    try {
      if (!(await store.renewLease(db, job.id, lease))) return lost.abort();
      renewedAt = startedAt;
    } catch (error) {
      log.warn({ err: error, jobId: job.id }, 'the lease of a job could not be renewed');
      if (Date.now() - renewedAt > times.leaseMs) lost.abort();
    }
  };
  const timer = setInterval(renew, times.leaseMs / 3);
  return { lost: lost.signal, end: () => clearInterval(timer) };
}

/** Writes the latest progress, now or when the pause since the last write is over. */
function progressOf({ db, log, job, lease, times }: Run) {
  let told: store.JobProgress | undefined;
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;

  function write() {
    clearTimeout(timer);
    timer = undefined;
    if (!told) return;
    const progress = told;
    told = undefined;
    writtenAt = performance.now();
    writing = writing
      .then(async () => void (await store.updateProgress(db, job.id, lease, progress)))
      .catch((error) =>
        log.warn({ err: error, jobId: job.id }, 'the progress of a job could not be written'),
      );
  }

  return {
    tell(progress: store.JobProgress) {
      told = progress;
      timer ??= setTimeout(write, Math.max(0, writtenAt + times.progressMs - performance.now()));
    },
    async flush() {
      write();
      await writing;
    },
  };
}

async function noteFailure({ db, job, lease, times }: Run, log: Logger, error: Error) {
  const final = job.attempts >= job.maxAttempts;
  log[final ? 'error' : 'warn']({ err: error, attempt: job.attempts }, 'a job failed');
  if (final) await store.failJob(db, job.id, lease, error.message);
  else await store.retryJob(db, job.id, lease, error.message, backoff(job.attempts, times.backoffMs));
}
