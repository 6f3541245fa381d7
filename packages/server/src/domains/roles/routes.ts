import { operations } from '@oriel/contract';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { type Cursors, pageById } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { requireRemainingAdmin } from '../users/index.ts';
import * as store from './store.ts';

const refuseTaken = refusing({ roles_name_key: 'role_name_taken' });

export const roleRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.listRoles, ({ db }, { query }) =>
    pageById(cursors, 'roles by id', query, (page) => store.listRoles(db, page)),
  ),

  handle(operations.createRole, ({ change }, { body }) =>
    change(async (tx) => {
      const { name, description = null, actions } = body;
      const role = await store.insertRole(tx, { name, description, actions }).catch(refuseTaken);
      return { reply: role, changes: created(role) };
    }),
  ),

  handle(operations.getRole, async ({ db }, { params }) =>
    found(await store.findRole(db, params.id), 'role_not_found'),
  ),

  handle(operations.updateRole, ({ change }, { params, body }) =>
    change(async (tx) => {
      const before = await requireOwnRole(tx, params.id);
      const after = await store.updateRole(tx, { ...before, ...body }).catch(refuseTaken);
      await requireRemainingAdmin(tx);
      return { reply: after, changes: changed(before, after) };
    }),
  ),

  handle(operations.deleteRole, ({ change }, { params }) =>
    change(async (tx) => {
      const before = await requireOwnRole(tx, params.id);
      await store.deleteRole(tx, before.id);
      await requireRemainingAdmin(tx);
      return { reply: undefined, changes: deleted(before) };
    }),
  ),
];

/** Returns a role that is not built in. It is locked, because the caller is about to change it. */
async function requireOwnRole(tx: Tx, id: number) {
  const role = found(await store.lockRole(tx, id), 'role_not_found');
  if (role.isBuiltIn) throw new ApiError('role_built_in');
  return role;
}
