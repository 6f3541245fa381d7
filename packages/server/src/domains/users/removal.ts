/** Deletes a user. The user is gone at once; their content goes to the new owner in batches, however much there is. */
import type { Change } from '../../platform/audit/change.ts';
import { type FindCleanups, removeAll, type UserCleanup, upTo } from '../../platform/cleanup.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { UNTIL_DONE } from '../../platform/jobs/batches.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import * as store from './store.ts';
import { requireRemainingAdmin } from './users.ts';

/** How many rows go to the new owner before the reply is sent. A job moves the rest. */
export const HANDED_OVER_MAX = 1000;

export interface UserRemoval {
  /**
   * The caller must lock `user`, so that they get no new content between the check for content and the deletion. At most
   * as many rows as the budget allows go to the new owner in this transaction, and they are taken from the budget.
   */
  deleteUser(
    tx: Tx,
    user: store.UserRow,
    newOwnerId: number | undefined,
    budget?: { rows: number },
  ): Promise<Change[]>;
  jobs: JobKind<never>[];
}

export function createUserRemoval(cleanup: FindCleanups): UserRemoval {
  const handOver = (tx: Tx, userId: number, heirId: number, rows: number) =>
    upTo(
      rows,
      cleanup('user').map((part) => async (most) => part.handOver?.(tx, userId, heirId, most) ?? 0),
    );

  const owns = async (tx: Tx, userId: number) => {
    for (const part of cleanup('user')) if (await part.owns?.(tx, userId)) return true;
    return store.isHeir(tx, userId);
  };

  const removeUser: JobKind<{ userId: number }> = {
    name: 'users.remove',
    // The user may still own content that another job is removing.
    ...UNTIL_DONE,
    async run({ userId }, context) {
      const heirId = await store.findHeirId(context.db, userId);
      const inheritance: UserCleanup[] =
        heirId == null
          ? []
          : [
              {
                removeOf: [(db, _userId, rows) => db.transaction((tx) => handOver(tx, userId, heirId, rows))],
              },
            ];
      const outcome = await removeAll([...cleanup('user'), ...inheritance], userId, context);
      if (outcome === 'done') await store.deleteUser(context.db, userId);
      return outcome;
    },
  };

  return {
    jobs: [removeUser],
    async deleteUser(tx, user, newOwnerId, budget = { rows: HANDED_OVER_MAX }) {
      if (newOwnerId !== undefined) await requireHeir(tx, user.id, newOwnerId);
      const hasContent = await owns(tx, user.id);
      if (hasContent && newOwnerId === undefined) throw new ApiError('user_owns_content');
      for (const part of cleanup('user')) await part.endAccess?.(tx, user.id);
      await store.hideUser(tx, user, newOwnerId ?? null);
      if (hasContent) budget.rows -= await handOver(tx, user.id, newOwnerId!, budget.rows);
      await enqueue(tx, removeUser, { userId: user.id });
      await requireRemainingAdmin(tx);
      const handedOver: Change[] = hasContent
        ? [{ id: newOwnerId!, before: {}, after: { receivedContentOf: user.id } }]
        : [];
      return [...handedOver, { id: user.id, before: user, after: null }];
    },
  };
}

async function requireHeir(tx: Tx, userId: number, newOwnerId: number): Promise<void> {
  if (newOwnerId === userId)
    throw invalid('newOwnerId', 'The content must go to another user.', 'invalid_reference');
  await requireActiveHeir(tx, newOwnerId);
}

export async function requireActiveHeir(tx: Tx, newOwnerId: number): Promise<void> {
  if (!(await store.lockActiveUser(tx, newOwnerId)))
    throw invalid('newOwnerId', 'There is no such active user.', 'invalid_reference');
}
