import { operations } from '@oriel/contract';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { found } from '../../platform/errors.ts';
import { type Cursors, pageById } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { ensureTenant, requireLockedTenant, requireTenant } from '../embed-tenants/index.ts';
import { ensureMembers, requireExternalIds, requireUnambiguous } from './embed-group-members.ts';
import { namedUsers } from './embed-group-rules.ts';
import * as store from './embed-groups.store.ts';

const refuseTaken = refusing({ user_groups_name_key: 'group_name_taken' });

interface Params {
  embedTenantName: string;
  id: number;
}

export interface EmbedGroupOptions {
  /** The account's own embed tenant. It always exists, even while it is empty. */
  tenant: string;
  maxExternalUsers: number;
}

export const embedGroupRoutes = (
  { cursors }: { cursors: Cursors },
  { tenant: ownTenant, maxExternalUsers }: EmbedGroupOptions,
) => {
  async function readGroup(db: Queryable, { embedTenantName, id }: Params) {
    await requireTenant(db, embedTenantName, ownTenant);
    return requireGroup(db, embedTenantName, id);
  }

  async function lockGroup(tx: Tx, { embedTenantName, id }: Params) {
    await requireLockedTenant(tx, embedTenantName, ownTenant);
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
        return { reply: group, changes: [...made, created({ embedTenantName, ...group })] };
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
        const changes = changed({ embedTenantName, ...before }, { embedTenantName, ...after });
        return { reply: after, changes };
      }),
    ),

    handle(operations.deleteGroup, ({ change }, { params }) =>
      change(async (tx) => {
        const group = await lockGroup(tx, params);
        await store.deleteGroup(tx, group.id);
        const { embedTenantName } = params;
        return { reply: undefined, changes: deleted({ embedTenantName, ...group }) };
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

const requireGroup = async (db: Queryable, tenant: string, id: number) =>
  found(await store.findGroup(db, tenant, id), 'group_not_found');

async function membersChange(tx: Tx, params: Params, group: store.GroupRow, who: object) {
  const { embedTenantName } = params;
  const after = await requireGroup(tx, embedTenantName, group.id);
  return changed({ embedTenantName, ...group }, { embedTenantName, ...after, ...who });
}
