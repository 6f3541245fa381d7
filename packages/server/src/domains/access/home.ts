import type { Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Viewer } from './rules.ts';
import { keepTenant } from './store.ts';

/**
 * Returns the content key of the embed tenant that new content at the root belongs to, or null for the main workspace.
 * The lock keeps the tenant until the transaction ends, so that no content is left of a tenant that is deleted at the
 * same time. It must be the first lock of a transaction that creates something, because deleting a tenant also begins
 * with it.
 */
export async function requireHome(tx: Tx, { embedTenant, userId }: Viewer): Promise<string | null> {
  if (embedTenant === null) return null;
  const contentKey = await keepTenant(tx, embedTenant, userId);
  // The embed tenant is gone, so the token is no longer valid.
  if (contentKey === undefined) throw new ApiError('unauthenticated');
  return contentKey;
}
