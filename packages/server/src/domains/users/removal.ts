/** Deleting a user, however much they own: gone at once, while what they own goes to its new owner in batches. */
import type { Change } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { runBatches, UNTIL_DONE } from '../../platform/jobs/batches.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import { deleteSchedulesOfUser } from '../../platform/jobs/schedules.ts';
import * as store from './store.ts';
import { requireRemainingAdmin } from './users.ts';

/** How much changes hands before the answer. The rest follows in a job. */
const HANDED_OVER_MAX = 1000;

export const removeUser: JobKind<{ userId: number }> = {
  name: 'users.remove',
  // The user may still own what is being removed by another job.
  ...UNTIL_DONE,
  async run({ userId }, { db, signal }) {
    const heirId = await store.findHeirId(db, userId);
    const outcome = await runBatches(signal, [
      (rows) => store.deleteSessions(db, userId, rows),
      (rows) => store.deleteViews(db, userId, rows),
      async (rows) =>
        heirId == null ? 0 : db.transaction((tx) => store.updateContentOwner(tx, userId, heirId, rows)),
      (rows) => db.transaction((tx) => store.clearMentions(tx, userId, rows)),
    ]);
    if (outcome === 'done') await store.deleteUser(db, userId);
    return outcome;
  },
};

/** `user` is locked, so that nothing new becomes theirs between looking at what they own and deleting them. */
export async function deleteUser(
  tx: Tx,
  user: store.UserRow,
  newOwnerId: number | undefined,
): Promise<Change[]> {
  if (newOwnerId !== undefined) await requireHeir(tx, user.id, newOwnerId);
  const owns = await store.ownsContent(tx, user.id);
  if (owns && newOwnerId === undefined) throw new ApiError('user_owns_content');
  await store.hideUser(tx, user, newOwnerId ?? null);
  if (owns) await store.updateContentOwner(tx, user.id, newOwnerId!, HANDED_OVER_MAX);
  await deleteSchedulesOfUser(tx, user.id);
  await enqueue(tx, removeUser, { userId: user.id });
  await requireRemainingAdmin(tx);
  const handedOver: Change[] = owns
    ? [{ id: newOwnerId!, before: {}, after: { receivedContentOf: user.id } }]
    : [];
  return [...handedOver, { id: user.id, before: user, after: null }];
}

async function requireHeir(tx: Tx, userId: number, newOwnerId: number): Promise<void> {
  if (newOwnerId === userId)
    throw invalid('newOwnerId', 'The content must go to another user.', 'invalid_reference');
  if (!(await store.lockActiveUser(tx, newOwnerId)))
    throw invalid('newOwnerId', 'There is no such active user.', 'invalid_reference');
}
