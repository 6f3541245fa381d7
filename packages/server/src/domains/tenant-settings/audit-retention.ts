import { deleteAuditEntries } from '../../platform/audit/store.ts';
import { runBatches } from '../../platform/jobs/batches.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import { findTenantSettings } from './store.ts';

/** Deletes audit entries that are older than the account wants to keep. */
export const auditRetention: Schedule = {
  name: 'audit-log.retention',
  cron: '23 * * * *',
  kind: {
    name: 'audit-log.retention',
    lane: 'removals',
    run: (_payload, { db, signal }) =>
      runBatches(signal, [
        async (rows) => {
          // Read before each batch, so that a longer retention takes effect at once.
          const { auditLogRetentionDays } = await findTenantSettings(db);
          return auditLogRetentionDays === null ? 0 : deleteAuditEntries(db, auditLogRetentionDays, rows);
        },
      ]),
  },
};
