import type { Change } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import * as store from './store.ts';

/** Throws if the embed tenant does not exist. The account's own embed tenant exists even if it has no row yet. */
export async function requireTenant(db: Queryable, name: string, ownTenant: string) {
  if (name !== ownTenant && !(await store.hasTenant(db, name))) throw new ApiError('embed_tenant_not_found');
}

/**
 * Throws if the embed tenant does not exist. Until the end of the transaction, no other transaction can change groups
 * and members of the embed tenant.
 */
export async function requireLockedTenant(tx: Tx, name: string, ownTenant: string) {
  if (!(await store.lockTenantForChange(tx, name)) && name !== ownTenant)
    throw new ApiError('embed_tenant_not_found');
}

/**
 * Locks the embed tenant like `requireLockedTenant`. Before that, creates the row of the account's own embed tenant if
 * it is missing, and returns that change for the audit log.
 */
export async function ensureTenant(tx: Tx, name: string, ownTenant: string): Promise<Change[]> {
  const made = name === ownTenant && (await store.insertTenant(tx, name));
  await requireLockedTenant(tx, name, ownTenant);
  return made ? [{ resourceType: 'embedTenant', id: name, before: null, after: made }] : [];
}
