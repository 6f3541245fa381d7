/** Deleting an embed tenant, however much is in it: out of every reader's sight at once, then row by row in a job. */
import type { Tx } from '../../platform/db/database.ts';
import { found } from '../../platform/errors.ts';
import { runBatches, UNTIL_DONE } from '../../platform/jobs/batches.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import * as store from './store.ts';

export const removeTenant: JobKind<store.HiddenTenant> = {
  name: 'embed-tenants.remove',
  ...UNTIL_DONE,
  async run(tenant, { db, signal }) {
    if (!(await store.hasHiddenTenant(db, tenant))) return 'done';
    const outcome = await runBatches(
      signal,
      store.LEFTOVER_KINDS.map((kind) => (rows: number) => store.deleteLeftovers(db, tenant, kind, rows)),
    );
    return outcome === 'done' && (await store.deleteTenant(db, tenant)) ? 'done' : 'unfinished';
  },
};

/**
 * Answers what the embed tenant was. It is locked before anything else: nobody joins it any more, and whoever is making
 * something in it is waited for.
 */
export async function deleteTenant(tx: Tx, name: string) {
  const tenant = found(await store.lockTenantForDeletion(tx, name), 'embed_tenant_not_found');
  const hidden = await store.hideTenant(tx, name);
  const userCount = await store.uncountUsers(tx, hidden.hiddenName);
  const lastSessionId = await store.endSessions(tx, name);
  await enqueue(tx, removeTenant, { ...hidden, name, lastSessionId });
  return { ...tenant, userCount };
}
