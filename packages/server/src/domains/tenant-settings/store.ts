import type { BodyOf, operations } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, sql } from '../../platform/db/sql.ts';

export interface TenantSettingsRow {
  useCreatorMode: boolean;
  embedAllowedOrigins: string[];
  /** Whether what has no policy is open to embed viewers. */
  embedWithoutPolicies: boolean;
  /** How many folders, workbooks and reports each embed tenant can have. Triggers on their tables check it. */
  embedContentLimit: number;
  /** How many notifications each embed tenant can have. */
  embedNotificationLimit: number;
  /** How many messages of notifications the users of each embed tenant are sent in an hour. */
  embedNotificationsPerHour: number;
  /** The addresses that notifications may reach. */
  notificationRecipients: 'known' | 'domains' | 'anybody';
  notificationDomains: string[];
  /** The page of the host with a dashboard, for mails to embed users; null if they get no link. */
  notificationLinkTemplate: string | null;
  /** Whether embed viewers may run SQL. */
  embedSql: boolean;
  /** While it is false, only changes of these settings are written to the audit log. */
  auditLogEnabled: boolean;
  /** Null means that all entries are kept. */
  auditLogRetentionDays: number | null;
  hasSupportAccess: boolean;
  maintenanceWindowEnabled: boolean;
  maintenanceWindowDay: string;
  maintenanceWindowTime: string;
  oidcEnabled: boolean;
  useAIBIUserInterface: boolean;
  /** The part of the app configuration with the defaults of every embedded page. */
  embedding: { showDashboardChat?: boolean; locale?: string; timezone?: string };
}

const SETTINGS = sql`
  select use_creator_mode as "useCreatorMode", embed_allowed_origins as "embedAllowedOrigins",
         embed_without_policies as "embedWithoutPolicies",
         embed_content_limit as "embedContentLimit",
         embed_notification_limit as "embedNotificationLimit",
         embed_notifications_per_hour as "embedNotificationsPerHour",
         notification_recipients as "notificationRecipients", notification_domains as "notificationDomains",
         notification_link_template as "notificationLinkTemplate",
         embed_sql as "embedSql",
         audit_log_enabled as "auditLogEnabled", audit_log_retention_days as "auditLogRetentionDays", has_support_access as "hasSupportAccess",
         maintenance_window_enabled as "maintenanceWindowEnabled", maintenance_window_day as "maintenanceWindowDay",
         maintenance_window_time as "maintenanceWindowTime", oidc_enabled as "oidcEnabled",
         use_aibi_user_interface as "useAIBIUserInterface", embedding
  from tenant_settings`;

export const findTenantSettings = (db: Queryable) => db.one<TenantSettingsRow>(SETTINGS);

/** Nobody else can change the settings until the transaction ends. */
export const lockTenantSettings = (tx: Tx) => tx.one<TenantSettingsRow>(sql`${SETTINGS} for update`);

export const updateTenantSettings = (tx: Tx, settings: Omit<TenantSettingsRow, 'embedding'>) =>
  tx.run(sql`
    update tenant_settings
    set use_creator_mode = ${settings.useCreatorMode}, embed_allowed_origins = ${settings.embedAllowedOrigins},
        embed_without_policies = ${settings.embedWithoutPolicies},
        embed_content_limit = ${settings.embedContentLimit},
        embed_notification_limit = ${settings.embedNotificationLimit},
        embed_notifications_per_hour = ${settings.embedNotificationsPerHour},
        notification_recipients = ${settings.notificationRecipients},
        notification_domains = ${settings.notificationDomains},
        notification_link_template = ${settings.notificationLinkTemplate},
        embed_sql = ${settings.embedSql},
        audit_log_enabled = ${settings.auditLogEnabled},
        audit_log_enabled_at = case audit_log_enabled when ${settings.auditLogEnabled} then audit_log_enabled_at else now() end,
        audit_log_retention_days = ${settings.auditLogRetentionDays}, has_support_access = ${settings.hasSupportAccess},
        maintenance_window_enabled = ${settings.maintenanceWindowEnabled},
        maintenance_window_day = ${settings.maintenanceWindowDay},
        maintenance_window_time = ${settings.maintenanceWindowTime}, oidc_enabled = ${settings.oidcEnabled},
        use_aibi_user_interface = ${settings.useAIBIUserInterface}`);

type AppConfigInput = BodyOf<typeof operations.updateAppConfig>;

/** Read separately from the settings, which are often read and stay in memory, because a theme is large. */
export interface AppConfigRow extends Pick<TenantSettingsRow, 'embedding'> {
  appConfig: {
    [Section in Exclude<keyof AppConfigInput, 'embedding'>]?: NonNullable<AppConfigInput[Section]>;
  };
}

const APP_CONFIG = sql`select embedding, app_config as "appConfig" from tenant_settings`;

export const findAppConfig = (db: Queryable) => db.one<AppConfigRow>(APP_CONFIG);

/** Nobody else can change the settings until the transaction ends. */
export const lockAppConfig = (tx: Tx) => tx.one<AppConfigRow>(sql`${APP_CONFIG} for update`);

export const updateAppConfig = (tx: Tx, { embedding, appConfig }: AppConfigRow) =>
  tx.run(sql`update tenant_settings set embedding = ${json(embedding)}, app_config = ${json(appConfig)}`);

/** When the audit log was turned on or off; if that was never done, when the installation was created. */
export const findAuditLogSwitchedAt = async (db: Queryable) =>
  (
    await db.one<{ at: string }>(
      sql`select coalesce(t.audit_log_enabled_at, i.created_at) as at from installation i, tenant_settings t`,
    )
  ).at;
