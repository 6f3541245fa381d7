import { deleteAuditEntries } from '../../platform/audit/store.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import { findTenantSettings } from './store.ts';

const BATCH_MAX = 10_000;

/** Deletes what the account no longer wants to keep of its audit log. */
export const auditRetention: Schedule = {
  name: 'audit-log.retention',
  cron: '23 * * * *',
  kind: {
    name: 'audit-log.retention',
    lane: 'removals',
    async run(_payload, { db, signal }) {
      // What a server that stops leaves behind is for the next run.
      while (!signal.aborted) {
        // Asked before each batch: who wants to keep more has it count at once.
        const { auditLogRetentionDays } = await findTenantSettings(db);
        if (auditLogRetentionDays === null) return;
        if ((await deleteAuditEntries(db, auditLogRetentionDays, BATCH_MAX)) < BATCH_MAX) return;
      }
    },
  },
};
