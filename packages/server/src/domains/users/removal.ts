/** Deleting a user, however much they own: gone at once, while what they own goes to its new owner in batches. */
import type { Change } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { UNTIL_DONE } from '../../platform/jobs/batches.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import { type AskLeftovers, removeAll, type UserLeftovers, upTo } from '../../platform/leftovers.ts';
import * as store from './store.ts';
import { requireRemainingAdmin } from './users.ts';

/** How much changes hands before the answer. The rest follows in a job. */
const HANDED_OVER_MAX = 1000;

export interface UserRemoval {
  /** `user` is locked, so that nothing new becomes theirs between looking at what they own and deleting them. */
  deleteUser(tx: Tx, user: store.UserRow, newOwnerId: number | undefined): Promise<Change[]>;
  jobs: JobKind<never>[];
}

export function createUserRemoval(leftovers: AskLeftovers): UserRemoval {
  const handOver = (tx: Tx, userId: number, heirId: number, rows: number) =>
    upTo(
      rows,
      leftovers('user').map((part) => async (most) => part.handOver?.(tx, userId, heirId, most) ?? 0),
    );

  const owns = async (tx: Tx, userId: number) => {
    for (const part of leftovers('user')) if (await part.owns?.(tx, userId)) return true;
    return store.isHeir(tx, userId);
  };

  const removeUser: JobKind<{ userId: number }> = {
    name: 'users.remove',
    // The user may still own what is being removed by another job.
    ...UNTIL_DONE,
    async run({ userId }, context) {
      const heirId = await store.findHeirId(context.db, userId);
      const inheritance: UserLeftovers[] =
        heirId == null
          ? []
          : [
              {
                removeOf: [(db, _userId, rows) => db.transaction((tx) => handOver(tx, userId, heirId, rows))],
              },
            ];
      const outcome = await removeAll([...leftovers('user'), ...inheritance], userId, context);
      if (outcome === 'done') await store.deleteUser(context.db, userId);
      return outcome;
    },
  };

  return {
    jobs: [removeUser],
    async deleteUser(tx, user, newOwnerId) {
      if (newOwnerId !== undefined) await requireHeir(tx, user.id, newOwnerId);
      const hasContent = await owns(tx, user.id);
      if (hasContent && newOwnerId === undefined) throw new ApiError('user_owns_content');
      for (const part of leftovers('user')) await part.endAccess?.(tx, user.id);
      await store.hideUser(tx, user, newOwnerId ?? null);
      if (hasContent) await handOver(tx, user.id, newOwnerId!, HANDED_OVER_MAX);
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
  if (!(await store.lockActiveUser(tx, newOwnerId)))
    throw invalid('newOwnerId', 'There is no such active user.', 'invalid_reference');
}
