export { auditRetention } from './audit-retention.ts';
export { demoTenantSettings } from './demo.ts';
export { tenantSettingsRoutes } from './routes.ts';
export { createTenantSettings, type TenantSettings } from './settings.ts';
export {
  type AppConfigRow,
  findAppConfig,
  lockAppConfig,
  updateAppConfig,
} from './store.ts';
