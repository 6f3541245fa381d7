import { operations } from '@oriel/contract';
import { type Tx, violatedConstraint } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { requireRemainingAdmin } from '../users/index.ts';
import * as store from './store.ts';

const LIST = 'roles by id';

export const roleRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.listRoles, async ({ db }, { query }) => {
    const size = pageSize(query.first);
    const afterId = query.after ? (cursors.decode(LIST, query.after)[0] as number) : 0;
    const rows = await store.listRoles(db, { afterId, limit: size + 1 });
    return toPage(rows, { size, after: query.after, cursorOf: ({ id }) => cursors.encode(LIST, [id]) });
  }),

  handle(operations.createRole, ({ change }, { body }) =>
    change(async (tx) => {
      const { name, description = null, actions } = body;
      const created = await store.insertRole(tx, { name, description, actions }).catch(refuseTakenName);
      return { reply: created, changes: { id: created.id, before: null, after: created } };
    }),
  ),

  handle(operations.getRole, async ({ db }, { params }) => {
    const role = await store.findRole(db, params.id);
    if (!role) throw new ApiError('role_not_found');
    return role;
  }),

  handle(operations.updateRole, ({ change }, { params, body }) =>
    change(async (tx) => {
      const before = await requireOwnRole(tx, params.id);
      const after = await store.updateRole(tx, { ...before, ...body }).catch(refuseTakenName);
      await requireRemainingAdmin(tx);
      return { reply: after, changes: { id: after.id, before, after } };
    }),
  ),

  handle(operations.deleteRole, ({ change }, { params }) =>
    change(async (tx) => {
      const before = await requireOwnRole(tx, params.id);
      await store.deleteRole(tx, before.id);
      await requireRemainingAdmin(tx);
      return { reply: undefined, changes: { id: before.id, before, after: null } };
    }),
  ),
];

/** A role that the account made itself. Locked, because it is about to change. */
async function requireOwnRole(tx: Tx, id: number) {
  const role = await store.lockRole(tx, id);
  if (!role) throw new ApiError('role_not_found');
  if (role.isBuiltIn) throw new ApiError('role_built_in');
  return role;
}

function refuseTakenName(error: unknown): never {
  if (violatedConstraint(error) === 'roles_name_key') throw new ApiError('role_name_taken');
  throw error;
}
