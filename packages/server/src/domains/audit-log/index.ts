import { CHAIN_KEY } from '../../platform/audit/seal.ts';
import type { Module, Platform } from '../../platform/module.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import { auditLogRoutes } from './routes.ts';
import { retention, sealing } from './upkeep.ts';

export const auditLog = (
  platform: Platform,
  { tenantSettings }: { tenantSettings: TenantSettings },
): Module => {
  const box = platform.box(CHAIN_KEY);
  return {
    routes: auditLogRoutes({ ...platform, tenantSettings }),
    schedules: [sealing(box), retention(box)],
  };
};
