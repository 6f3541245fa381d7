import type { Change } from '../../platform/audit/change.ts';
import { type Tx, violatedConstraint } from '../../platform/db/database.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { requireRemainingAdmin } from './last-admin.ts';
import * as store from './store.ts';

/** `user` is locked, so that nothing new becomes theirs between moving what they own and deleting them. */
export async function deleteUser(
  tx: Tx,
  user: store.UserRow,
  newOwnerId: number | undefined,
): Promise<Change[]> {
  const handedOver = newOwnerId === undefined ? [] : await handOver(tx, user.id, newOwnerId);
  await store.deleteUser(tx, user.id).catch((error) => {
    // Everything that a user owns refers to them by `user_id`, and what may not go with them refuses to.
    if (violatedConstraint(error)?.endsWith('_user_id_fkey')) throw new ApiError('user_owns_content');
    throw error;
  });
  await requireRemainingAdmin(tx);
  return [...handedOver, { id: user.id, before: user, after: null }];
}

async function handOver(tx: Tx, ownerId: number, newOwnerId: number): Promise<Change[]> {
  if (newOwnerId === ownerId)
    throw invalid('newOwnerId', 'The content must go to another user.', 'invalid_reference');
  if (!(await store.lockActiveUser(tx, newOwnerId)))
    throw invalid('newOwnerId', 'There is no such active user.', 'invalid_reference');
  const moved = await store.updateContentOwner(tx, ownerId, newOwnerId);
  if (!moved.folders && !moved.workbooks && !moved.reports) return [];
  return [{ id: newOwnerId, before: {}, after: { receivedContentOf: ownerId, ...moved } }];
}
