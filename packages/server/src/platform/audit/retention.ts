/** Drops months of the log that are older than the account keeps entries. */
import type { Database } from '../db/database.ts';
import type { Box } from '../secrets/box.ts';
import { macOfDroppedMonth } from './macs.ts';
import * as months from './months.store.ts';
import { openChain } from './seal.ts';
import * as seals from './seals.store.ts';
import { insertAuditEntries } from './store.ts';

/**
 * Drops one month after the other. A month stays until all of its entries are older than the limit and sealed; lists do
 * not show those of its entries that are older.
 */
export async function dropOldMonths(db: Database, box: Box, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // Read before each month, so that a longer retention takes effect at once.
    const days = await months.findRetentionDays(db);
    const month = days === null ? undefined : await months.findOldestMonth(db, days);
    if (month === undefined || !(await dropMonth(db, box, month))) return;
  }
}

/** Returns false if the month has entries that are not sealed yet. */
const dropMonth = (db: Database, box: Box, month: string): Promise<boolean> =>
  db.transaction(async (tx) => {
    const { chain, key, save } = await openChain(tx, box);
    const range = { month, after: chain.sealedTo, to: Number.MAX_SAFE_INTEGER, limit: 1 };
    if ((await seals.listDigestsOfMonth(tx, range)).length) return false;
    const entries = await seals.countSealedEntries(tx, month);
    await months.dropPartition(tx, month);
    await months.updateDroppedMonth(tx, month, entries, macOfDroppedMonth(key, month, entries));
    const last = await seals.findLastOfDropped(tx);
    const anchor = last ? { anchorNo: last.no, anchorMac: last.mac } : {};
    if (last) await seals.deleteSealsTo(tx, last.no);
    await save({ ...chain, ...anchor }, chain.nextTo);
    await insertAuditEntries(tx, [
      {
        operation: 'auditLogRetention',
        resourceType: 'auditLogMonth',
        resourceId: month.slice(0, 7),
        deploymentId: null,
        // The server itself.
        userId: null,
        apiKeyId: null,
        ip: null,
        requestId: null,
        before: { entries },
        after: null,
      },
    ]);
    return true;
  });
