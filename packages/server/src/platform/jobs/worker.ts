/**
 * Runs jobs. A clock checks what is due, without taking a lock, and sleeps until the next due time or notification.
 * Each lane has its own loops, so that a long job delays neither the clock nor another lane.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createAdmission } from '../admission/admission.ts';
import type { Database } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import type { Logger } from '../log.ts';
import { JOBS_CHANNEL, type JobKind } from './jobs.ts';
import { FAIR_LANES, LANES } from './lanes.ts';
import { type RunTimes, runJob } from './run-job.ts';
import { enqueueDue, type Schedule, upsertSchedule } from './schedules.ts';
import * as store from './store.ts';

export interface WorkerTimes extends RunTimes {
  /** The longest time that the clock sleeps, because notifications can be lost. */
  pollMs: number;
}

const DEFAULT_TIMES: WorkerTimes = {
  pollMs: 30_000,
  leaseMs: 30_000,
  backoffMs: 1000,
  progressMs: 1000,
  // Shorter than the time that a supervisor waits for a worker.
  stopWithinMs: 15_000,
  // A supervisor kills a worker 30 seconds after it asked it to stop.
  keepStuckMs: 15_000,
};
/** The poll interval while notifications cannot be received or work is due, and after the queue was unreachable. */
const IMPATIENT_MS = 1000;
const KEEP_FINISHED_DAYS = 7;
/** How many names of served deployments and sharers are remembered in each fair lane. */
const SERVED_MAX = 1000;
const UNREACHABLE = 'the job worker could not reach its queue';

const cleanUp: JobKind = {
  name: 'jobs.clean-up',
  run: async (_payload, { db }) => void (await store.deleteFinishedJobs(db, KEEP_FINISHED_DAYS)),
};

export interface Worker {
  /** Tells running jobs to stop by their signal, and waits for them. */
  stop(): Promise<void>;
}

export interface WorkerOptions {
  db: Database;
  listener: Listener;
  log: Logger;
  /** Kinds of `schedules` need not be listed again. */
  kinds?: JobKind[];
  schedules: Schedule[];
  /** A worker that replaces a dead one gets the same id, and releases its jobs. */
  id?: string;
  lanes?: Record<string, number>;
  times?: Partial<WorkerTimes>;
}

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { db, listener, log, id = randomUUID() } = options;
  const lanes: Record<string, number> = options.lanes ?? LANES;
  const times = { ...DEFAULT_TIMES, ...options.times };
  const schedules: Schedule[] = [
    ...options.schedules,
    { name: cleanUp.name, cron: '17 * * * *', kind: cleanUp },
  ];
  const kinds = new Map(
    [...(options.kinds ?? []), ...schedules.map(({ kind }) => kind)].map((kind) => [kind.name, kind]),
  );
  const names = [...kinds.keys()];
  const stopping = new AbortController();

  await store.requeueExpiredJobs(db, id);
  await db.transaction(async (tx) => {
    for (const schedule of schedules) await upsertSchedule(tx, schedule);
  });

  /** The names that had a turn, by lane, the latest last. */
  const served = new Map(FAIR_LANES.map((lane) => [lane, new LRUCache<string, true>({ max: SERVED_MAX })]));
  const claims = createAdmission({ places: 1, waitingMax: Number.POSITIVE_INFINITY });

  /** One claim of the lane at a time, so that the next one knows who was served. */
  const claimInTurn = (lane: string, had: LRUCache<string, true>, lease: store.Lease) =>
    claims.take({ key: lane }, async () => {
      const job = await db.transaction((tx) => store.claimInTurn(tx, lane, names, lease, [...had.rkeys()]));
      for (const name of job ? store.turnsOf(job) : []) had.set(name, true);
      return job;
    });

  async function runOne(lane: string): Promise<boolean> {
    const lease = { token: randomUUID(), workerId: id, leaseMs: times.leaseMs };
    const had = served.get(lane);
    const job = await (had ? claimInTurn(lane, had, lease) : store.claimJob(db, lane, names, lease));
    if (!job) return false;
    if (stopping.signal.aborted) {
      await store.releaseJob(db, job.id, lease);
      return false;
    }
    const kind = kinds.get(job.kind)!;
    await runJob({ db, log, kind, job, lease, times, stopping: stopping.signal });
    return true;
  }

  async function work(lane: string, alarm: Alarm) {
    for (let wakes = 0; !stopping.signal.aborted; ) {
      wakes = await alarm.next(wakes);
      let hasRun = false;
      while (!stopping.signal.aborted) {
        const ran = await runOne(lane).catch(async (error) => {
          log.warn({ err: error, lane }, UNREACHABLE);
          await sleep(IMPATIENT_MS, undefined, { signal: stopping.signal }).catch(() => {});
          return true;
        });
        if (!ran) break;
        hasRun = true;
      }
      // The clock saw only the first job that waited in the lane. The next one may be due at any moment.
      if (hasRun) clock.ring();
    }
  }

  /** Does what is due, and returns how long there is nothing to do. */
  async function tick(): Promise<number> {
    const due = await store.findNextDue(db, Object.keys(lanes), names);
    let released = 0;
    let enqueued = 0;
    if (isDue(due.leaseInMs)) released = await store.requeueExpiredJobs(db);
    if (isDue(due.scheduleInMs)) enqueued = await enqueueDue(db, log, kinds);
    for (const { lane, inMs } of due.lanes) if (isDue(inMs)) alarms.get(lane)!.ring();
    if (released + enqueued > 0) return 0;
    // Work that is due is being done: by a lane of this server, or by another server. If not, it is found soon.
    const next = [due.leaseInMs, due.scheduleInMs, ...due.lanes.map(({ inMs }) => inMs)];
    const later = next.filter((inMs) => inMs !== null).map((inMs) => (isDue(inMs) ? IMPATIENT_MS : inMs));
    const pollMs = listener.isListening ? times.pollMs : IMPATIENT_MS;
    return Math.min(pollMs, ...later);
  }

  async function keepTime(alarm: Alarm) {
    for (let wakes = 0; !stopping.signal.aborted; ) {
      const pauseMs = await tick().catch((error) => {
        log.warn({ err: error }, UNREACHABLE);
        return IMPATIENT_MS;
      });
      if (pauseMs > 0) wakes = await alarm.next(wakes, Math.ceil(pauseMs));
    }
  }

  const clock = createAlarm();
  const alarms = new Map(Object.keys(lanes).map((lane) => [lane, createAlarm()]));
  listener.on(JOBS_CHANNEL, clock.ring);
  const loops = [
    keepTime(clock),
    ...[...alarms].flatMap(([lane, alarm]) => Array.from({ length: lanes[lane]! }, () => work(lane, alarm))),
  ];

  return {
    async stop() {
      stopping.abort();
      clock.ring();
      for (const alarm of alarms.values()) alarm.ring();
      await Promise.all(loops);
    },
  };
}

const isDue = (inMs: number | null) => inMs !== null && inMs <= 0;

interface Alarm {
  ring(): void;
  /** Waits until it has rung more often than `seen` times, or until the time is over. Returns how often it has rung. */
  next(seen: number, withinMs?: number): Promise<number>;
}

function createAlarm(): Alarm {
  let rings = 0;
  const waiting = new Set<() => void>();
  return {
    ring() {
      rings++;
      for (const resume of waiting) resume();
    },
    async next(seen, withinMs) {
      if (rings === seen) {
        await new Promise<void>((resolve) => {
          const resume = () => {
            clearTimeout(timer);
            waiting.delete(resume);
            resolve();
          };
          const timer = withinMs === undefined ? undefined : setTimeout(resume, withinMs);
          waiting.add(resume);
        });
      }
      return rings;
    },
  };
}
