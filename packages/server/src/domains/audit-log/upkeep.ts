/** The scheduled jobs of the audit log. */
import { makeMonths } from '../../platform/audit/months.store.ts';
import { dropOldMonths } from '../../platform/audit/retention.ts';
import { sealEntries } from '../../platform/audit/seal.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import type { Box } from '../../platform/secrets/box.ts';

export const sealing = (box: Box): Schedule => ({
  name: 'audit-log.sealing',
  everySeconds: 15,
  kind: {
    name: 'audit-log.sealing',
    // The next run does what this one could not do.
    maxAttempts: 1,
    async run(_payload, { db, signal }) {
      await makeMonths(db);
      await sealEntries(db, box, signal);
    },
  },
});

export const retention = (box: Box): Schedule => ({
  name: 'audit-log.retention',
  cron: '23 * * * *',
  kind: {
    name: 'audit-log.retention',
    lane: 'removals',
    run: (_payload, { db, signal }) => dropOldMonths(db, box, signal),
  },
});
