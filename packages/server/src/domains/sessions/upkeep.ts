/** Deletes sessions and tokens that have expired. */
import { runBatches } from '../../platform/jobs/batches.ts';
import type { JobKind } from '../../platform/jobs/jobs.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import * as store from './store.ts';

export const deleteExpired: JobKind = {
  name: 'sessions.delete-expired',
  lane: 'removals',
  run: (_payload, { db, signal }) =>
    runBatches(signal, [
      (rows) => store.deleteExpiredTokens(db, rows),
      (rows) => store.deleteExpiredSessions(db, rows),
    ]),
};

export const sessionUpkeep: Schedule = {
  name: deleteExpired.name,
  cron: '13,43 * * * *',
  kind: deleteExpired,
};
