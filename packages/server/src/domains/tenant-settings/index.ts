import type { Module, Platform } from '../../platform/module.ts';
import { demoTenantSettings } from './demo.ts';
import { type Plan, tenantSettingsRoutes } from './routes.ts';

export { fillLinkTemplate, type LinkValues } from './link-template.ts';
export { createTenantSettings, type TenantSettings } from './settings.ts';
export {
  type AppConfigRow,
  findAppConfig,
  lockAppConfig,
  type TenantSettingsRow,
  updateAppConfig,
} from './store.ts';

export const tenantSettings = (_platform: Platform, { plan }: { plan: Plan }): Module => ({
  routes: tenantSettingsRoutes({ plan }),
  demo: demoTenantSettings,
});
