/** Deletes sessions that have ended. Users, memberships and values stay. */
import type { JobKind } from '../../platform/jobs/jobs.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import * as store from './store.ts';

/** How long the ledger shows an ended session. */
const KEEP_ENDED_DAYS = 7;
const BATCH = 5000;

export const deleteEndedSessions: JobKind = {
  name: 'embed-sessions.delete-ended',
  lane: 'removals',
  async run(_payload, { db, signal }) {
    await store.deleteOldRevocations(db);
    while (!signal.aborted && (await store.deleteEndedSessions(db, KEEP_ENDED_DAYS, BATCH)) > 0);
  },
};

export const embedSessionUpkeep: Schedule = {
  name: deleteEndedSessions.name,
  cron: '7,37 * * * *',
  kind: deleteEndedSessions,
};
