import { Type } from 'typebox';
import { operation } from '../operation.ts';
import { Maybe, matching, Nullable, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Tenant Settings': 'Settings of the account.',
} satisfies TagDefinitions;

const Weekday = Type.Enum(['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']);
const TimeOfDay = Type.String({
  ...matching('^([01][0-9]|2[0-3]):[0-5][0-9]$', 'must be a time of day, such as 03:00'),
  examples: ['03:00'],
});

const RetentionDays = Nullable(
  Type.Integer({
    minimum: 1,
    maximum: 36_500,
    description:
      'Older entries of the audit log are not shown, and are dropped with their month; null keeps everything',
  }),
);

const EmbedWithoutPolicies = Type.Boolean({
  description:
    'Whether cubes and views without an access policy are open to embed viewers; false by default: they do not exist for them',
});
const embedContentLimit = {
  minimum: 0,
  maximum: 100_000_000,
  description:
    'How many folders, workbooks and reports together each embed tenant can have. What is there already stays',
};

const EmbedNotificationLimit = Type.Integer({
  minimum: 0,
  maximum: 10_000,
  description:
    'How many notifications each embed tenant can have in creator mode. What is there already stays',
});
const EmbedNotificationsPerHour = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description: 'How many messages of notifications the users of each embed tenant are sent in an hour',
});
const NotificationRecipients = Type.Enum(['known', 'domains', 'anybody'], {
  description:
    'Whom notifications may reach: people of the account and embed users; of these and others only addresses of `notificationDomains`; or any address. An address that belongs to nobody gets the view of the owner',
});
const NotificationDomains = Type.Array(
  Type.String({
    maxLength: 253,
    ...matching('^[a-z0-9-]+(\\.[a-z0-9-]+)+$', 'must be a domain such as example.com'),
    examples: ['example.com'],
  }),
  { maxItems: 100, description: 'The domains of addresses that notifications may reach, without subdomains' },
);

const NotificationLinkTemplate = Nullable(
  Type.String({
    maxLength: 1000,
    description:
      'The page of the host to which mails to embed users lead. `{dashboardPublicId}`, `{dashboardId}`, `{deploymentId}` and `{embedTenantName}` stand for their values, after the host. Null: such mails have no link',
    examples: ['https://app.example.com/reports/{dashboardPublicId}'],
  }),
);

const TenantSettings = Shape('TenantSettings', {
  auditLogEnabled: Type.Boolean(),
  auditLogEnabledCurrent: Type.Boolean({ description: 'The same as `auditLogEnabled`' }),
  auditLogEnabledTimestamp: Type.Integer({
    description:
      'When the audit log was turned on or off, or else when the installation was created, in milliseconds since 1970',
  }),
  auditLogRetentionDays: RetentionDays,
  embedAllowedOrigins: Type.Array(Type.String()),
  embedWithoutPolicies: EmbedWithoutPolicies,
  embedContentLimit: Type.Integer(embedContentLimit),
  embedNotificationLimit: EmbedNotificationLimit,
  embedNotificationsPerHour: EmbedNotificationsPerHour,
  embedSql: Type.Boolean(),
  hasSupportAccess: Type.Boolean(),
  maintenanceWindowDay: Type.String(),
  maintenanceWindowEnabled: Type.Boolean(),
  maintenanceWindowTime: Type.String(),
  notificationDomains: NotificationDomains,
  notificationLinkTemplate: NotificationLinkTemplate,
  notificationRecipients: NotificationRecipients,
  oidcEnabled: Type.Boolean(),
  plan: Type.Enum(['free', 'starter', 'premium', 'enterprise'], {
    description: 'Set by the operator, with `ORIEL_PLAN`',
  }),
  useAIBIUserInterface: Type.Boolean(),
  useCreatorMode: Type.Boolean({ description: 'Whether sessions in creator mode can be minted' }),
});

const common = { tag: 'Tenant Settings', auth: 'management', permission: 'All' } as const;

export const getTenantSettings = operation({
  ...common,
  id: 'getTenantSettings',
  method: 'GET',
  path: '/api/v1/tenant/settings',
  summary: 'Get the settings of the account',
  description: 'The account is the whole installation; each deployment has settings of its own.',
  reply: TenantSettings,
  scopedKeys: 'allowed',
  audit: 'none',
});

export const updateTenantSettings = operation({
  ...common,
  id: 'updateTenantSettings',
  method: 'PUT',
  path: '/api/v1/tenant/settings',
  summary: 'Change settings of the account',
  description:
    'Fields that are absent or `null` stay as they are, except `auditLogRetentionDays`: there, `null` keeps all entries, and `notificationLinkTemplate`: `null` removes it. While `auditLogEnabled` is false, only changes of these settings are written to the audit log.',
  body: Shape('TenantSettingsInput', {
    auditLogEnabled: Maybe(Type.Boolean()),
    auditLogRetentionDays: Type.Optional(RetentionDays),
    embedAllowedOrigins: Maybe(
      Type.Array(Type.String({ maxLength: 300, examples: ['https://app.example.com'] }), {
        maxItems: 100,
        description: 'Replaces the list. Each origin is scheme, host and port, without a path',
      }),
    ),
    embedWithoutPolicies: Maybe(EmbedWithoutPolicies),
    embedContentLimit: Maybe(Type.Integer(embedContentLimit)),
    embedNotificationLimit: Maybe(EmbedNotificationLimit),
    embedNotificationsPerHour: Maybe(EmbedNotificationsPerHour),
    embedSql: Maybe(Type.Boolean()),
    hasSupportAccess: Maybe(Type.Boolean()),
    maintenanceWindowDay: Maybe(Weekday),
    maintenanceWindowEnabled: Maybe(Type.Boolean()),
    maintenanceWindowTime: Maybe(TimeOfDay),
    notificationDomains: Maybe(NotificationDomains),
    notificationLinkTemplate: Type.Optional(NotificationLinkTemplate),
    notificationRecipients: Maybe(NotificationRecipients),
    oidcEnabled: Maybe(Type.Boolean()),
    useAIBIUserInterface: Maybe(Type.Boolean()),
    useCreatorMode: Maybe(Type.Boolean()),
  }),
  reply: TenantSettings,
  scopedKeys: 'refused',
  audit: 'tenantSettings',
});
