import type { Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

export interface TenantSettingsRow {
  useCreatorMode: boolean;
  embedAllowedOrigins: string[];
  /** Null keeps everything. */
  auditLogRetentionDays: number | null;
  hasSupportAccess: boolean;
  maintenanceWindowEnabled: boolean;
  maintenanceWindowDay: string;
  maintenanceWindowTime: string;
  oidcEnabled: boolean;
  useAIBIUserInterface: boolean;
  /** App configuration: what every embedded page starts from. */
  embedding: { showDashboardChat?: boolean; locale?: string; timezone?: string };
}

export const findTenantSettings = (db: Queryable) =>
  db.one<TenantSettingsRow>(sql`
    select use_creator_mode as "useCreatorMode", embed_allowed_origins as "embedAllowedOrigins",
           audit_log_retention_days as "auditLogRetentionDays", has_support_access as "hasSupportAccess",
           maintenance_window_enabled as "maintenanceWindowEnabled", maintenance_window_day as "maintenanceWindowDay",
           maintenance_window_time as "maintenanceWindowTime", oidc_enabled as "oidcEnabled",
           use_aibi_user_interface as "useAIBIUserInterface", embedding
    from tenant_settings`);
