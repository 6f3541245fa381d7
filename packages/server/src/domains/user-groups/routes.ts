import { operations } from '@oriel/contract';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { found } from '../../platform/errors.ts';
import { type Cursors, pageById } from '../../platform/http/pages.ts';
import { handle, handleEach } from '../../platform/http/routes.ts';
import { requireUsers } from '../users/index.ts';
import * as store from './store.ts';

const refuseTaken = refusing({ user_groups_name_key: 'group_name_taken' });

export const userGroupRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.listUserGroups, ({ db }, { query }) =>
    pageById(cursors, 'user groups by id', query, (page) => store.listUserGroups(db, page)),
  ),

  handle(operations.createUserGroup, ({ change }, { body }) =>
    change(async (tx) => {
      const { name, description = null } = body;
      const group = await store.insertUserGroup(tx, { name, description }).catch(refuseTaken);
      return { reply: group, changes: created(group) };
    }),
  ),

  handle(operations.getUserGroup, ({ db }, { params }) => requireUserGroup(db, params.id)),

  handle(operations.updateUserGroup, ({ change }, { params, body }) =>
    change(async (tx) => {
      const before = await lockUserGroup(tx, params.id);
      const after = await store.updateUserGroup(tx, { ...before, ...body }).catch(refuseTaken);
      return { reply: after, changes: changed(before, after) };
    }),
  ),

  ...handleEach([operations.deleteUserGroup, operations.deleteUserGroupAtGroups], ({ change }, { params }) =>
    change(async (tx) => {
      const before = await lockUserGroup(tx, params.id);
      await store.deleteUserGroup(tx, before.id);
      return { reply: undefined, changes: deleted(before) };
    }),
  ),

  handle(operations.getUserGroupMembers, async ({ db }, { params, query }) => {
    const { id } = await requireUserGroup(db, params.id);
    const list = `members of user group ${id} by id`;
    return pageById(cursors, list, query, (page) => store.listMembers(db, id, page));
  }),

  handle(operations.addUserGroupMembers, ({ change }, { params, body }) =>
    change(async (tx) => {
      const before = await lockUserGroup(tx, params.id);
      await requireUsers(tx, 'userIds', body.userIds);
      const added = await store.insertMembers(tx, before.id, body.userIds);
      const after = await requireUserGroup(tx, before.id);
      const changes = added.length ? changed(before, { ...after, addedUserIds: added }) : [];
      return { reply: after, changes };
    }),
  ),

  handle(operations.removeUserGroupMembers, ({ change }, { params, body }) =>
    change(async (tx) => {
      const before = await lockUserGroup(tx, params.id);
      const removed = await store.deleteMembers(tx, before.id, body.userIds);
      const after = await requireUserGroup(tx, before.id);
      const changes = removed.length ? changed(before, { ...after, removedUserIds: removed }) : [];
      return { reply: undefined, changes };
    }),
  ),
];

const requireUserGroup = async (db: Queryable, id: number) =>
  found(await store.findUserGroup(db, id), 'group_not_found');

async function lockUserGroup(tx: Tx, id: number) {
  await store.lockUserGroup(tx, id);
  return requireUserGroup(tx, id);
}
