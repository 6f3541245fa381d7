/** Deletes sessions that have ended. Users, memberships and values stay. */
import { runBatches } from '../../platform/jobs/batches.ts';
import type { JobKind } from '../../platform/jobs/jobs.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import * as store from './store.ts';

/** How long the ledger shows an ended session. */
const KEEP_ENDED_DAYS = 7;

export const deleteEndedSessions: JobKind = {
  name: 'embed-sessions.delete-ended',
  lane: 'removals',
  async run(_payload, { db, signal }) {
    await store.deleteOldRevocations(db);
    return runBatches(signal, [(rows) => store.deleteEndedSessions(db, KEEP_ENDED_DAYS, rows)]);
  },
};

export const embedSessionUpkeep: Schedule = {
  name: deleteEndedSessions.name,
  cron: '7,37 * * * *',
  kind: deleteEndedSessions,
};
