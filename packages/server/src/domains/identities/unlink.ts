/** Takes an identity away from a user. */
import { type Change, deleted } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { signOut } from '../sessions/index.ts';
import { hasPassword, lockPerson } from '../users/index.ts';
import { joinGroups } from './groups.ts';
import { deleteIdentity } from './store.ts';

/**
 * The user leaves the groups that the provider gave them. All of their sessions end, because any of them may have begun
 * with this identity.
 */
export async function unlinkIdentity(tx: Tx, userId: number, identityId: number): Promise<Change[]> {
  await lockPerson(tx, userId);
  const { groupIds, ...identity } = found(
    await deleteIdentity(tx, userId, identityId),
    'linked_identity_not_found',
  );
  const left = await joinGroups(tx, userId, [], groupIds);
  return [deleted({ id: userId, ...identity }), ...left.changes, ...(await endSessions(tx, userId))];
}

/** A person keeps a way to sign in. An admin may take the last one, and can give a new one by a link. */
export async function unlinkOwnIdentity(tx: Tx, userId: number, identityId: number): Promise<Change[]> {
  const changes = await unlinkIdentity(tx, userId, identityId);
  if (!(await hasPassword(tx, userId))) throw new ApiError('only_way_to_sign_in');
  return changes;
}

export const endSessions = async (tx: Tx, userId: number): Promise<Change[]> =>
  (await signOut(tx, { userId, sessionId: null }, { everywhere: true })).map((change) => ({
    ...change,
    resourceType: 'session',
  }));
