import { operations } from '@oriel/contract';
import { type Queryable, type Tx, violatedConstraint } from '../../../platform/db/database.ts';
import { ApiError } from '../../../platform/errors.ts';
import { handle } from '../../../platform/http/routes.ts';
import { pageById } from '../page-by-id.ts';
import type { Options } from '../routes.ts';
import { ensureTenant, lockTenant, requireTenant } from '../tenants.ts';
import { ensureMembers, requireExternalIds, requireUnambiguous } from './members.ts';
import { namedUsers } from './rules.ts';
import * as store from './store.ts';

interface Params {
  embedTenantName: string;
  id: number;
}

export const groupRoutes = ({ cursors, ownTenant, maxExternalUsers }: Options) => {
  async function readGroup(db: Queryable, { embedTenantName, id }: Params) {
    await requireTenant(db, embedTenantName, ownTenant);
    return requireGroup(db, embedTenantName, id);
  }

  async function lockGroup(tx: Tx, { embedTenantName, id }: Params) {
    await lockTenant(tx, embedTenantName, ownTenant);
    return requireGroup(tx, embedTenantName, id);
  }

  return [
    handle(operations.getGroups, async ({ db }, { params: { embedTenantName }, query }) => {
      await requireTenant(db, embedTenantName, ownTenant);
      const list = `groups of embed tenant ${embedTenantName} by id`;
      return pageById(cursors, list, query, (page) => store.listGroups(db, embedTenantName, page));
    }),

    handle(operations.createGroup, ({ change }, { params: { embedTenantName }, body }) =>
      change(async (tx) => {
        const made = await ensureTenant(tx, embedTenantName, ownTenant);
        const { name, description = null } = body;
        const group = await store.insertGroup(tx, embedTenantName, { name, description }).catch(refuseTaken);
        const after = { embedTenantName, ...group };
        return { reply: group, changes: [...made, { id: group.id, before: null, after }] };
      }),
    ),

    handle(operations.getGroup, ({ db }, { params }) => readGroup(db, params)),

    handle(operations.updateGroup, ({ change }, { params, body }) =>
      change(async (tx) => {
        const { embedTenantName } = params;
        const before = await lockGroup(tx, params);
        const { description = before.description } = body;
        if (description === before.description) return { reply: before, changes: [] };
        const after = await store.updateGroup(tx, { id: before.id, description });
        const entry = { before: { embedTenantName, ...before }, after: { embedTenantName, ...after } };
        return { reply: after, changes: { id: after.id, ...entry } };
      }),
    ),

    handle(operations.deleteGroup, ({ change }, { params }) =>
      change(async (tx) => {
        const group = await lockGroup(tx, params);
        await store.deleteGroup(tx, group.id);
        const before = { embedTenantName: params.embedTenantName, ...group };
        return { reply: undefined, changes: { id: group.id, before, after: null } };
      }),
    ),

    handle(operations.getGroupMembers, async ({ db }, { params, query }) => {
      const { id } = await readGroup(db, params);
      const list = `members of group ${id} by id`;
      return pageById(cursors, list, query, (page) => store.listMembers(db, id, page));
    }),

    handle(operations.addGroupMembers, ({ change }, { params, body: { members } }) => {
      requireUnambiguous(members);
      requireExternalIds(members);
      return change(async (tx) => {
        const { embedTenantName } = params;
        const before = await lockGroup(tx, params);
        const { users, madeUserIds } = await ensureMembers(tx, embedTenantName, members, maxExternalUsers);
        const addedUserIds = await store.insertMembers(tx, before.id, users);
        const added = new Set(addedUserIds);
        const reply = {
          addedMembers: users.filter(({ id }) => added.has(id)),
          unchangedMembers: users.filter(({ id }) => !added.has(id)),
        };
        if (!added.size) return { reply, changes: [] };
        const who = { addedUserIds, ...(madeUserIds.length ? { madeUserIds } : {}) };
        return { reply, changes: await membersChange(tx, params, before, who) };
      });
    }),

    handle(operations.removeGroupMembers, ({ change }, { params, body: { members } }) => {
      requireUnambiguous(members);
      return change(async (tx) => {
        const before = await lockGroup(tx, params);
        const users = await store.lockUsers(tx, params.embedTenantName, namedUsers(members));
        const removedUserIds = await store.deleteMembers(tx, before.id, users);
        if (!removedUserIds.length) return { reply: undefined, changes: [] };
        return { reply: undefined, changes: await membersChange(tx, params, before, { removedUserIds }) };
      });
    }),
  ];
};

async function requireGroup(db: Queryable, tenant: string, id: number) {
  const group = await store.findGroup(db, tenant, id);
  if (!group) throw new ApiError('group_not_found');
  return group;
}

async function membersChange(tx: Tx, params: Params, group: store.GroupRow, who: object) {
  const { embedTenantName } = params;
  const after = await requireGroup(tx, embedTenantName, group.id);
  return {
    id: group.id,
    before: { embedTenantName, ...group },
    after: { embedTenantName, ...after, ...who },
  };
}

function refuseTaken(error: unknown): never {
  if (violatedConstraint(error) === 'user_groups_name_key') throw new ApiError('group_name_taken');
  throw error;
}
