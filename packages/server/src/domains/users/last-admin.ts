import type { Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import * as store from './store.ts';

/**
 * Called after whatever may have taken the action `All` from somebody. The lock makes such changes end one after the
 * other, and the look comes after the lock, so that two of them can not each count on the other's admin.
 */
export async function requireRemainingAdmin(tx: Tx): Promise<void> {
  await store.lockAdminRole(tx);
  if (!(await store.hasActiveAdmin(tx))) throw new ApiError('last_admin');
}
