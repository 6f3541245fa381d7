export { auditRetention } from './audit-retention.ts';
export { demoTenantSettings } from './demo.ts';
export { tenantSettingsRoutes } from './routes.ts';
export { createTenantSettings, type TenantSettings } from './settings.ts';
export { findTenantSettings, lockTenantSettings, type TenantSettingsRow, updateEmbedding } from './store.ts';
