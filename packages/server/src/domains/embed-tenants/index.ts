import type { Module, Platform } from '../../platform/module.ts';
import { removeTenant } from './removal.ts';
import { embedTenantRoutes } from './routes.ts';

export { ensureTenant, requireLockedTenant, requireTenant } from './embed-tenants.ts';
export { EMBED_USER_COLUMNS, type EmbedUserRow } from './store.ts';

export const embedTenants = ({ cursors }: Platform, { tenant }: { tenant: string }): Module => ({
  routes: embedTenantRoutes({ cursors, ownTenant: tenant }),
  jobs: [removeTenant],
});
