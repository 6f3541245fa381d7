import type { FindCleanups } from '../../platform/cleanup.ts';
import type { Module, Platform } from '../../platform/module.ts';
import { createTenantRemoval } from './removal.ts';
import { embedTenantRoutes } from './routes.ts';

export { ensureTenant, requireLockedTenant, requireTenant } from './embed-tenants.ts';
export { EMBED_USER_COLUMNS, type EmbedUserRow } from './store.ts';

export function embedTenants(
  { cursors }: Platform,
  { tenant, cleanup }: { tenant: string; cleanup: FindCleanups },
): Module {
  const removal = createTenantRemoval(cleanup);
  return { routes: embedTenantRoutes({ cursors, ownTenant: tenant, removal }), jobs: removal.jobs };
}
