import type { AskLeftovers } from '../../platform/leftovers.ts';
import type { Module, Platform } from '../../platform/module.ts';
import { createTenantRemoval } from './removal.ts';
import { embedTenantRoutes } from './routes.ts';

export { ensureTenant, requireLockedTenant, requireTenant } from './embed-tenants.ts';
export { EMBED_USER_COLUMNS, type EmbedUserRow } from './store.ts';

export function embedTenants(
  { cursors }: Platform,
  { tenant, leftovers }: { tenant: string; leftovers: AskLeftovers },
): Module {
  const removal = createTenantRemoval(leftovers);
  return { routes: embedTenantRoutes({ cursors, ownTenant: tenant, removal }), jobs: removal.jobs };
}
