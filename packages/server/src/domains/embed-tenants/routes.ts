import { operations } from '@oriel/contract';
import { deleted } from '../../platform/audit/change.ts';
import { ApiError } from '../../platform/errors.ts';
import { type Cursors, pageById } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { requireTenant } from './embed-tenants.ts';
import type { TenantRemoval } from './removal.ts';
import * as store from './store.ts';

interface Options {
  cursors: Cursors;
  /** The account's own embed tenant. It always exists, even if nothing is in it yet. */
  ownTenant: string;
  removal: TenantRemoval;
}

export const embedTenantRoutes = ({ cursors, ownTenant, removal }: Options) => [
  handle(operations.listEmbedTenants, ({ db }, { query }) =>
    pageById(cursors, 'embed tenants by id', query, (page) =>
      store.listTenants(db, query.search ?? null, page),
    ),
  ),

  handle(operations.deleteEmbedTenant, ({ change }, { params }) =>
    change(async (tx) => {
      if (params.embedTenantName === ownTenant) throw new ApiError('embed_tenant_is_own');
      const before = await removal.deleteTenant(tx, params.embedTenantName);
      return { reply: undefined, changes: { ...deleted(before), id: before.name } };
    }),
  ),

  handle(operations.listEmbedUsers, async ({ db }, { params: { embedTenantName }, query }) => {
    await requireTenant(db, embedTenantName, ownTenant);
    const list = `users of embed tenant ${embedTenantName} by id`;
    return pageById(cursors, list, query, (page) =>
      store.listUsers(db, embedTenantName, query.search ?? null, page),
    );
  }),
];
