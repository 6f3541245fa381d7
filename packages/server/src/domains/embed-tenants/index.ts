import type { Module, Platform } from '../../platform/module.ts';
import { removeTenant } from './delete-tenant.ts';
import { embedTenantRoutes } from './routes.ts';

export const embedTenants = (
  { cursors }: Platform,
  { tenant, maxExternalUsers }: { tenant: string; maxExternalUsers: number },
): Module => ({
  routes: embedTenantRoutes({ cursors, ownTenant: tenant, maxExternalUsers }),
  jobs: [removeTenant],
});
