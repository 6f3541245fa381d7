import type { Database } from '../../platform/db/database.ts';
import type { JobKind } from '../../platform/jobs/jobs.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import type { Module, Platform } from '../../platform/module.ts';
import { dayOf, type Usage } from './counters.ts';
import { usageRoutes } from './routes.ts';
import { findUnmergedDay, mergeDay } from './store.ts';

export { createUsage, type Usage } from './counters.ts';

/** No process writes counters of a day that is over for so long. */
const MERGED_AFTER_MS = 3 * 86_400_000;

/** Puts the counters of earlier days together, so that a day has one row for each embed tenant. */
export async function mergeUsage(db: Database, signal: AbortSignal, now = Date.now()): Promise<void> {
  const before = dayOf(now - MERGED_AFTER_MS);
  for (;;) {
    const day = signal.aborted ? null : await findUnmergedDay(db, before);
    if (day === null) return;
    await db.transaction((tx) => mergeDay(tx, day));
  }
}

const merge: JobKind = { name: 'usage', run: (_payload, { db, signal }) => mergeUsage(db, signal) };
const schedule: Schedule = { name: 'usage', cron: '23 3 * * *', kind: merge };

export const usageModule = (platform: Platform, usage: Usage): Module => ({
  routes: usageRoutes(platform, usage),
  schedules: [schedule],
  stop: usage.stop,
});
