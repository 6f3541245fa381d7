/** Deleting an embed tenant, however much is in it: out of every reader's sight at once, then row by row in a job. */
import type { Tx } from '../../platform/db/database.ts';
import { found } from '../../platform/errors.ts';
import { UNTIL_DONE } from '../../platform/jobs/batches.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import { type AskLeftovers, type HiddenTenant, removeAll } from '../../platform/leftovers.ts';
import { endSessionsOfTenant } from '../embed-sessions/index.ts';
import { uncountUsersOf } from '../users/index.ts';
import * as store from './store.ts';

export interface TenantRemoval {
  /**
   * Returns what the embed tenant was. It is locked before anything else: nobody joins it any more, and whoever is
   * making something in it is waited for.
   */
  deleteTenant(tx: Tx, name: string): Promise<store.TenantRow & { userCount: number }>;
  jobs: JobKind<never>[];
}

export function createTenantRemoval(leftovers: AskLeftovers): TenantRemoval {
  const removeTenant: JobKind<HiddenTenant> = {
    name: 'embed-tenants.remove',
    ...UNTIL_DONE,
    async run(tenant, context) {
      if (!(await store.hasHiddenTenant(context.db, tenant))) return 'done';
      const outcome = await removeAll(leftovers('embedTenant'), tenant, context);
      if (outcome === 'done') await store.deleteTenant(context.db, tenant);
      return outcome;
    },
  };

  return {
    jobs: [removeTenant],
    async deleteTenant(tx, name) {
      const tenant = found(await store.lockTenantForDeletion(tx, name), 'embed_tenant_not_found');
      const hidden = await store.hideTenant(tx, name);
      const userCount = await uncountUsersOf(tx, hidden.hiddenName);
      const lastSessionId = await endSessionsOfTenant(tx, name);
      await enqueue(tx, removeTenant, { ...hidden, name, lastSessionId });
      return { ...tenant, userCount };
    },
  };
}
