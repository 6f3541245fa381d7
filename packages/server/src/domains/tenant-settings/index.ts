export { createTenantSettings, type TenantSettings } from './settings.ts';
