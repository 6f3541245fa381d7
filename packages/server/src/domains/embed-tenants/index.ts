export { embedTenantRoutes } from './routes.ts';
