/** Which embed tenants see the dashboard of a workbook. */
import type { BodyOf, operations } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { invalid } from '../../platform/errors.ts';
import * as store from './store.ts';

/** The number of embed tenants with an entry of their own. */
const ENTRIES_MAX = 1000;

type Row = Pick<store.DashboardRow, 'id' | 'allowEmbed' | 'allEmbedUsers'>;

/** A workbook that nothing was set for is closed to everybody. */
export async function showAccess(db: Queryable, row: Row | undefined) {
  const { allowEmbed, allEmbedUsers: action } = row ?? { allowEmbed: false, allEmbedUsers: 'none' as const };
  return {
    allowEmbed,
    allEmbedUsers: { enabled: action === 'read', action, groupId: null },
    tenants: row ? await store.listTenantAccess(db, row.id) : [],
  };
}

type EmbedAccessUpdate = BodyOf<typeof operations.updateEmbedAccess>;

/** Throws a 400 if the parts of the request do not fit together. */
export function requireRequest({ action, allEmbedUsers, embedTenantName }: EmbedAccessUpdate) {
  if (allEmbedUsers && embedTenantName != null)
    throw invalid('embedTenantName', 'Give either `allEmbedUsers` or `embedTenantName`.');
  if (action != null && !allEmbedUsers && embedTenantName == null)
    throw invalid('action', 'Give `allEmbedUsers: true` or an `embedTenantName` with it.');
}

/** Keeps the embed tenant of the request. This must be the first lock of the transaction. */
export async function keepTenantOf(tx: Tx, { embedTenantName }: EmbedAccessUpdate) {
  if (embedTenantName != null && !(await store.keepTenant(tx, embedTenantName)))
    throw invalid(
      'embedTenantName',
      'There is no such embed tenant. Its first session makes it.',
      'invalid_reference',
    );
}

/** A field that is not given stays. */
export async function updateAccess(tx: Tx, row: store.DashboardRow, given: EmbedAccessUpdate) {
  const { action = null, allEmbedUsers, embedTenantName } = given;
  // `false` closes what `true` opened. Beside the name of an embed tenant, it says only that the entry is meant.
  const isClosed = allEmbedUsers === false && embedTenantName == null;
  await store.updateEmbedding(tx, row.id, {
    allowEmbed: given.allowEmbed ?? row.allowEmbed,
    allEmbedUsers: isClosed ? 'none' : allEmbedUsers ? (action ?? 'none') : row.allEmbedUsers,
  });
  if (embedTenantName == null) return;
  if (action === null) await store.deleteTenantAccess(tx, row.id, embedTenantName);
  else {
    await store.upsertTenantAccess(tx, row.id, embedTenantName, action);
    if ((await store.listTenantAccess(tx, row.id)).length > ENTRIES_MAX)
      throw invalid('embedTenantName', `There are ${ENTRIES_MAX} entries already.`);
  }
}
