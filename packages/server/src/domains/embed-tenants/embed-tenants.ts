import type { Change } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import * as store from './store.ts';

/** The account's own embed tenant counts as there before anything is in it. */
export async function requireTenant(db: Queryable, name: string, ownTenant: string) {
  if (name !== ownTenant && !(await store.hasTenant(db, name))) throw new ApiError('embed_tenant_not_found');
}

/** As above. Groups and members of the embed tenant change only here until the end of the transaction. */
export async function requireLockedTenant(tx: Tx, name: string, ownTenant: string) {
  if (!(await store.lockTenantForChange(tx, name)) && name !== ownTenant)
    throw new ApiError('embed_tenant_not_found');
}

/** As above, for what needs its row. Answers what had to be made for it. */
export async function ensureTenant(tx: Tx, name: string, ownTenant: string): Promise<Change[]> {
  const made = name === ownTenant && (await store.insertTenant(tx, name));
  await requireLockedTenant(tx, name, ownTenant);
  return made ? [{ resourceType: 'embedTenant', id: name, before: null, after: made }] : [];
}
