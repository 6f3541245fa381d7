/** Deletes an embed tenant. It is hidden from every reader at once; a job then deletes its rows in batches. */

import { type FindCleanups, type HiddenTenant, removeAll } from '../../platform/cleanup.ts';
import type { Tx } from '../../platform/db/database.ts';
import { found } from '../../platform/errors.ts';
import { UNTIL_DONE } from '../../platform/jobs/batches.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import { endSessionsOfTenant } from '../embed-sessions/index.ts';
import { uncountUsersOf } from '../users/index.ts';
import * as store from './store.ts';

export interface TenantRemoval {
  /**
   * Returns the embed tenant as it was. Locks it first, so that no user can be added to it any more, and waits for
   * transactions that are creating something in it.
   */
  deleteTenant(tx: Tx, name: string): Promise<store.TenantRow & { userCount: number }>;
  jobs: JobKind<never>[];
}

export function createTenantRemoval(cleanup: FindCleanups): TenantRemoval {
  const removeTenant: JobKind<HiddenTenant> = {
    name: 'embed-tenants.remove',
    ...UNTIL_DONE,
    async run(tenant, context) {
      if (!(await store.hasHiddenTenant(context.db, tenant))) return 'done';
      const outcome = await removeAll(cleanup('embedTenant'), tenant, context);
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
