/** The user groups that a provider names. */
import type { Change } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { addMembers, lockUserGroup, removeMembers } from '../user-groups/index.ts';
import { groupChanges } from './rules.ts';
import { listGroups } from './store.ts';

/**
 * Joins the groups with these names, and leaves those that the user joined in this way and that are not named any more.
 * `groupIds` are the groups that the user is in now because of the names.
 */
export async function joinGroups(
  tx: Tx,
  userId: number,
  names: string[],
  joinedByClaim: readonly number[],
): Promise<{ groupIds: number[]; changes: Change[] }> {
  const groups = await listGroups(tx, userId, names);
  const { join, leave, groupIds } = groupChanges(groups, joinedByClaim);
  const changes: Change[] = [];
  // In the order of their ids, so that two sign-ins do not block each other.
  for (const id of [...join, ...leave].sort((a, b) => a - b)) {
    const group = await lockUserGroup(tx, id);
    const changed = await (join.includes(id) ? addMembers : removeMembers)(tx, group, [userId]);
    changes.push(...changed.changes.map((change) => ({ ...change, resourceType: 'userGroup' })));
  }
  return { groupIds, changes };
}
