/**
 * Schedules of the server itself and of its users. A schedule is a row with the time at which it is due. Runs that were
 * missed while no server ran, or while the last job of the schedule had not ended, are done once.
 */
import { Cron } from 'croner';
import type { Cleanup } from '../cleanup.ts';
import type { Database, Tx } from '../db/database.ts';
import type { Logger } from '../log.ts';
import { type JobKind, newJob } from './jobs.ts';
import * as store from './schedules.store.ts';
import { insertJobs } from './store.ts';

/** A cron pattern of five fields in a time zone, or a number of seconds. */
export type Pattern = { cron: string; timeZone?: string } | { everySeconds: number };

export type Schedule<Payload extends object = object> = {
  /** Unique among all schedules, so it begins with the name of its domain: `notifications.17`. */
  name: string;
  kind: JobKind<Payload>;
  payload?: Payload;
  /** The schedule is deleted with its deployment or user. */
  deploymentId?: number;
  userId?: number;
} & Pattern;

/** How many schedules are handled in one transaction. */
const BATCH = 100;

/**
 * Creates the schedule with this name, which starts now, or changes it. Throws a `TypeError` that says what is wrong
 * with the pattern.
 */
export function upsertSchedule<Payload extends object>(
  tx: Tx,
  schedule: Schedule<Payload>,
): Promise<unknown> {
  const { name, kind, payload = {}, deploymentId = null, userId = null } = schedule;
  const pattern = {
    cron: 'cron' in schedule ? schedule.cron : null,
    everySeconds: 'everySeconds' in schedule ? schedule.everySeconds : null,
    timeZone: ('timeZone' in schedule && schedule.timeZone) || 'UTC',
  };
  const now = new Date();
  const nextRunAt = nextRun(pattern, now, now)?.toISOString() ?? null;
  return store.upsertSchedule(
    tx,
    { name, kind: kind.name, payload, ...pattern, deploymentId, userId },
    nextRunAt,
  );
}

export const deleteSchedule = (tx: Tx, name: string) => store.deleteSchedule(tx, name);

/** The row of a deleted user is removed later, but the schedules must end at once. */
export const scheduleCleanup: Cleanup = { user: { endAccess: store.deleteSchedulesOfUser } };

/**
 * Enqueues the jobs of schedules that are due and sets their next time, in one transaction. Returns how many schedules
 * were due. A schedule whose pattern is broken is parked with the error, so that it is not tried repeatedly.
 */
export const enqueueDue = (db: Database, log: Logger, kinds: ReadonlyMap<string, JobKind>): Promise<number> =>
  db.transaction(async (tx) => {
    const due = await store.lockDueSchedules(tx, [...kinds.keys()], BATCH);
    const next = due.map((schedule) => ({ name: schedule.name, ...nextOf(schedule, log) }));
    await insertJobs(
      tx,
      due
        .filter((_, i) => !next[i]!.error)
        .map(({ name, kind, payload }) => newJob(kinds.get(kind)!, payload, { schedule: name })),
    );
    await store.updateSchedules(tx, next);
    return due.length;
  });

function nextOf(schedule: store.DueSchedule, log: Logger) {
  try {
    const next = nextRun(schedule, new Date(schedule.nextRunAt), new Date(schedule.now));
    return { nextRunAt: next?.toISOString() ?? null, error: null };
  } catch (error) {
    log.error({ err: error, schedule: schedule.name }, 'the pattern of a schedule is broken; it is parked');
    return { nextRunAt: null, error: (error as Error).message };
  }
}

/** Returns the first time after `now`. Intervals are counted from `last`, so that they do not drift. */
export function nextRun(
  { cron, everySeconds, timeZone }: Pick<store.ScheduleRow, 'cron' | 'everySeconds' | 'timeZone'>,
  last: Date,
  now: Date,
): Date | null {
  if (cron !== null) {
    return new Cron(cron, { timezone: timeZone, mode: '5-part', paused: true }).nextRun(now);
  }
  const everyMs = everySeconds! * 1000;
  const ticks = Math.floor((now.getTime() - last.getTime()) / everyMs) + 1;
  return new Date(last.getTime() + ticks * everyMs);
}
