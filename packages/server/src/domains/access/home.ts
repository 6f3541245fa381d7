import type { Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Viewer } from './rules.ts';
import { keepTenant } from './store.ts';

/**
 * What new content at the root belongs to: an embed tenant, by its content key, or null for the main workspace. The
 * tenant stays in existence until the transaction ends, so that nothing is left of one that is deleted meanwhile. Comes
 * before all other locks of who makes something, as it does for who deletes the tenant.
 */
export async function requireHome(tx: Tx, { embedTenant, userId }: Viewer): Promise<string | null> {
  if (embedTenant === null) return null;
  const contentKey = await keepTenant(tx, embedTenant, userId);
  // The embed tenant is gone, so the token is no longer valid.
  if (contentKey === undefined) throw new ApiError('unauthenticated');
  return contentKey;
}
