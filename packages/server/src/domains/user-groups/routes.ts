import { operations } from '@oriel/contract';
import { type Queryable, type Tx, violatedConstraint } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { requireUsers } from '../users/index.ts';
import * as store from './store.ts';

const LIST = 'user groups by id';
const membersOf = (groupId: number) => `members of user group ${groupId} by id`;

export const userGroupRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.listUserGroups, async ({ db }, { query }) => {
    const size = pageSize(query.first);
    const afterId = query.after ? (cursors.decode(LIST, query.after)[0] as number) : 0;
    const rows = await store.listUserGroups(db, { afterId, limit: size + 1 });
    return toPage(rows, { size, after: query.after, cursorOf: ({ id }) => cursors.encode(LIST, [id]) });
  }),

  handle(operations.createUserGroup, ({ change }, { body }) =>
    change(async (tx) => {
      const { name, description = null } = body;
      const created = await store.insertUserGroup(tx, { name, description }).catch(refuseTakenName);
      return { reply: created, changes: { id: created.id, before: null, after: created } };
    }),
  ),

  handle(operations.getUserGroup, ({ db }, { params }) => requireUserGroup(db, params.id)),

  handle(operations.updateUserGroup, ({ change }, { params, body }) =>
    change(async (tx) => {
      const before = await lockUserGroup(tx, params.id);
      const after = await store.updateUserGroup(tx, { ...before, ...body }).catch(refuseTakenName);
      return { reply: after, changes: { id: after.id, before, after } };
    }),
  ),

  handle(operations.deleteUserGroup, ({ change }, { params }) =>
    change(async (tx) => {
      const before = await lockUserGroup(tx, params.id);
      await store.deleteUserGroup(tx, before.id);
      return { reply: undefined, changes: { id: before.id, before, after: null } };
    }),
  ),

  handle(operations.getUserGroupMembers, async ({ db }, { params, query }) => {
    const list = membersOf(params.id);
    const size = pageSize(query.first);
    const afterId = query.after ? (cursors.decode(list, query.after)[0] as number) : 0;
    await requireUserGroup(db, params.id);
    const rows = await store.listMembers(db, params.id, { afterId, limit: size + 1 });
    return toPage(rows, { size, after: query.after, cursorOf: ({ id }) => cursors.encode(list, [id]) });
  }),

  handle(operations.addUserGroupMembers, ({ change }, { params, body }) =>
    change(async (tx) => {
      const before = await lockUserGroup(tx, params.id);
      await requireUsers(tx, 'userIds', body.userIds);
      const added = await store.insertMembers(tx, before.id, body.userIds);
      const after = await requireUserGroup(tx, before.id);
      const entry = { id: after.id, before, after: { ...after, addedUserIds: added } };
      return { reply: after, changes: added.length ? entry : [] };
    }),
  ),

  handle(operations.removeUserGroupMembers, ({ change }, { params, body }) =>
    change(async (tx) => {
      const before = await lockUserGroup(tx, params.id);
      const removed = await store.deleteMembers(tx, before.id, body.userIds);
      const after = await requireUserGroup(tx, before.id);
      const entry = { id: after.id, before, after: { ...after, removedUserIds: removed } };
      return { reply: undefined, changes: removed.length ? entry : [] };
    }),
  ),
];

async function requireUserGroup(db: Queryable, id: number) {
  const group = await store.findUserGroup(db, id);
  if (!group) throw new ApiError('group_not_found');
  return group;
}

async function lockUserGroup(tx: Tx, id: number) {
  await store.lockUserGroup(tx, id);
  return requireUserGroup(tx, id);
}

function refuseTakenName(error: unknown): never {
  if (violatedConstraint(error) === 'user_groups_name_key') throw new ApiError('group_name_taken');
  throw error;
}
