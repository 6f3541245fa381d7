import { operations } from '@oriel/contract';
import { type Cursors, pageById } from '../../platform/http/pages.ts';
import { handle, handleEach } from '../../platform/http/routes.ts';
import * as store from './store.ts';
import {
  addMembers,
  createUserGroup,
  deleteUserGroup,
  lockUserGroup,
  removeMembers,
  requireUserGroup,
  updateUserGroup,
} from './user-groups.ts';

export const userGroupRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.listUserGroups, ({ db }, { query }) =>
    pageById(cursors, 'user groups by id', query, (page) => store.listUserGroups(db, page)),
  ),

  handle(operations.createUserGroup, ({ change }, { body }) =>
    change(async (tx) => {
      const { group, changes } = await createUserGroup(tx, body);
      return { reply: group, changes };
    }),
  ),

  handle(operations.getUserGroup, ({ db }, { params }) => requireUserGroup(db, params.id)),

  handle(operations.updateUserGroup, ({ change }, { params, body }) =>
    change(async (tx) => {
      const { group, changes } = await updateUserGroup(tx, await lockUserGroup(tx, params.id), body);
      return { reply: group, changes };
    }),
  ),

  ...handleEach([operations.deleteUserGroup, operations.deleteUserGroupAtGroups], ({ change }, { params }) =>
    change(async (tx) => ({
      reply: undefined,
      changes: await deleteUserGroup(tx, await lockUserGroup(tx, params.id)),
    })),
  ),

  handle(operations.getUserGroupMembers, async ({ db }, { params, query }) => {
    const { id } = await requireUserGroup(db, params.id);
    const list = `members of user group ${id} by id`;
    return pageById(cursors, list, query, (page) => store.listMembers(db, id, page));
  }),

  handle(operations.addUserGroupMembers, ({ change }, { params, body }) =>
    change(async (tx) => {
      const { group, changes } = await addMembers(tx, await lockUserGroup(tx, params.id), body.userIds);
      return { reply: group, changes };
    }),
  ),

  handle(operations.removeUserGroupMembers, ({ change }, { params, body }) =>
    change(async (tx) => {
      const { changes } = await removeMembers(tx, await lockUserGroup(tx, params.id), body.userIds);
      return { reply: undefined, changes };
    }),
  ),
];
