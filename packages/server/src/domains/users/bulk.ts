/** The same change of several users. Each of them succeeds or fails separately. */
import type { BodyOf, operations, ReplyOf } from '@oriel/contract';
import { type Change, changed } from '../../platform/audit/change.ts';
import { whatIsKept } from '../../platform/audit/differences.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { HANDED_OVER_MAX, requireActiveHeir, type UserRemoval } from './removal.ts';
import * as store from './store.ts';
import { lockPerson, lockUser, updateUser } from './users.ts';

type BulkAction = BodyOf<typeof operations.bulkUserAction>;
type Reply = ReplyOf<typeof operations.bulkUserAction>;

export async function changeUsers(tx: Tx, removal: UserRemoval, asked: BulkAction) {
  const { action } = asked;
  const newOwnerId = asked.newOwnerId ?? undefined;
  if (newOwnerId !== undefined && action !== 'DELETE')
    throw invalid('newOwnerId', 'is only for the action DELETE');
  const userIds = [...new Set(asked.userIds)];
  // All users are locked before the first one changes, so that two calls do not wait for each other.
  await store.lockUsers(tx, newOwnerId === undefined ? userIds : [...userIds, newOwnerId]);
  if (newOwnerId !== undefined) await requireActiveHeir(tx, newOwnerId);

  // The limit of rows that go to the new owner at once is for the whole request.
  const budget = { rows: HANDED_OVER_MAX };
  const reply: Reply = { action, succeeded: [], failed: [] };
  const changes: Change[] = [];
  for (const userId of userIds) {
    try {
      const done = await tx.attempt(async () =>
        action === 'DELETE'
          ? removal.deleteUser(tx, await lockUser(tx, userId), newOwnerId, budget)
          : setDeactivated(tx, userId, action === 'DEACTIVATE'),
      );
      reply.succeeded.push(userId);
      // The rest is dropped at once, because the settings of many users may be large.
      changes.push(...done.map((change) => ({ ...change, ...whatIsKept(change) })));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      reply.failed.push({ userId, error: { status: error.statusCode, message: error.message } });
    }
  }
  return { reply, changes };
}

async function setDeactivated(tx: Tx, id: number, isDeactivated: boolean): Promise<Change[]> {
  const before = await lockPerson(tx, id);
  if (before.isDeactivated === isDeactivated) return [];
  return [changed(before, await updateUser(tx, before, { isDeactivated }))];
}
