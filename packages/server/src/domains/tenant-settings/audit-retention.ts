import { deleteAuditEntries } from '../../platform/audit/store.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import { findTenantSettings } from './store.ts';

const BATCH_MAX = 10_000;

/** Deletes audit entries that are older than the account wants to keep. */
export const auditRetention: Schedule = {
  name: 'audit-log.retention',
  cron: '23 * * * *',
  kind: {
    name: 'audit-log.retention',
    lane: 'removals',
    async run(_payload, { db, signal }) {
      // If the server stops, the next run continues.
      while (!signal.aborted) {
        // Read before each batch, so that a longer retention takes effect at once.
        const { auditLogRetentionDays } = await findTenantSettings(db);
        if (auditLogRetentionDays === null) return;
        if ((await deleteAuditEntries(db, auditLogRetentionDays, BATCH_MAX)) < BATCH_MAX) return;
      }
    },
  },
};
