/** Groups of people: the steps that several operations share, each with its entry in the audit log. */
import { type Change, changed, created, deleted } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { found } from '../../platform/errors.ts';
import { requireUsers } from '../users/index.ts';
import * as store from './store.ts';

const refuseTaken = refusing({ user_groups_name_key: 'group_name_taken' });

interface GroupChange {
  group: store.UserGroupRow;
  changes: Change[];
}

export const requireUserGroup = async (db: Queryable, id: number) =>
  found(await store.findUserGroup(db, id), 'group_not_found');

/** Like `requireUserGroup`. Nobody else can change the group and its members until the transaction ends. */
export async function lockUserGroup(tx: Tx, id: number): Promise<store.UserGroupRow> {
  await store.lockUserGroup(tx, id);
  return requireUserGroup(tx, id);
}

export async function createUserGroup(
  tx: Tx,
  given: { name: string; description?: string | null },
): Promise<GroupChange> {
  const { name, description = null } = given;
  const group = await store.insertUserGroup(tx, { name, description }).catch(refuseTaken);
  return { group, changes: [created(group)] };
}

/** An absent field stays. The caller has locked `before`, here and in the functions below. */
export async function updateUserGroup(
  tx: Tx,
  before: store.UserGroupRow,
  given: { name?: string; description?: string | null },
): Promise<GroupChange> {
  const group = await store.updateUserGroup(tx, { ...before, ...given }).catch(refuseTaken);
  return { group, changes: [changed(before, group)] };
}

export async function deleteUserGroup(tx: Tx, before: store.UserGroupRow): Promise<Change[]> {
  await store.deleteUserGroup(tx, before.id);
  return [deleted(before)];
}

/** Users who are members already stay members. A user who does not exist is refused, and then nobody is added. */
export async function addMembers(
  tx: Tx,
  before: store.UserGroupRow,
  userIds: number[],
): Promise<GroupChange> {
  await requireUsers(tx, 'userIds', userIds);
  const addedUserIds = await store.insertMembers(tx, before.id, userIds);
  if (addedUserIds.length) await store.noteGroupChange(tx, before.id);
  const group = await requireUserGroup(tx, before.id);
  return { group, changes: addedUserIds.length ? [changed(before, { ...group, addedUserIds })] : [] };
}

/** Users who are not members are ignored. */
export async function removeMembers(
  tx: Tx,
  before: store.UserGroupRow,
  userIds: number[],
): Promise<GroupChange> {
  const removedUserIds = await store.deleteMembers(tx, before.id, userIds);
  if (removedUserIds.length) await store.noteGroupChange(tx, before.id);
  const group = await requireUserGroup(tx, before.id);
  return { group, changes: removedUserIds.length ? [changed(before, { ...group, removedUserIds })] : [] };
}
