export { removeTenant } from './delete-tenant.ts';
export { embedTenantRoutes } from './routes.ts';
