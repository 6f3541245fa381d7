import type { Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Viewer } from './rules.ts';
import { lockTenant } from './store.ts';

/**
 * The embed tenant that new content at the root belongs to; null for the main workspace. It stays in existence until
 * the transaction ends, so that nothing is left of a tenant that is deleted meanwhile. Comes before all other locks of
 * who makes something, as it does for who deletes the tenant.
 */
export async function requireHome(tx: Tx, { embedTenant }: Viewer): Promise<string | null> {
  // Who was embedded in it is nobody any more.
  if (embedTenant !== null && !(await lockTenant(tx, embedTenant))) throw new ApiError('unauthenticated');
  return embedTenant;
}
