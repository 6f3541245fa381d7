import { expirySchedule } from '../../platform/jobs/upkeep.ts';
import type { Module, Platform } from '../../platform/module.ts';
import { cleanup } from './cleanup.store.ts';
import type { Recorder } from './recorder.ts';
import { queryActivityRoutes } from './routes.ts';
import { deleteExcessSlow, deleteOldSlow } from './store.ts';

export { createRecorder, type Recorder } from './recorder.ts';

const SLOW_KEPT_DAYS = 7;
const SLOW_KEPT = 10_000;

export const queryActivity = (platform: Platform, recorder: Recorder): Module => ({
  routes: queryActivityRoutes(platform, recorder),
  schedules: [
    expirySchedule('slow-queries', 17, [
      (db, rows) => deleteOldSlow(db, SLOW_KEPT_DAYS, rows),
      (db, rows) => deleteExcessSlow(db, SLOW_KEPT, rows),
    ]),
  ],
  cleanup,
  stop: recorder.stop,
});
