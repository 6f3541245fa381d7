/** The schemas of notifications: schedules of published dashboards, and who is sent them. */
import { Type } from 'typebox';
import { names, reference, SecurityContext, UserAttributeInputs } from './provisioning.ts';
import { DateTime, Email, EmbedTenantName, Id, Maybe, matching, Shape } from './schemas.ts';

const Member = Type.String({
  maxLength: 255,
  ...matching('.+\\..+', 'must be a member such as `orders.status`'),
  description: 'The member of a control of the dashboard',
  examples: ['orders.status'],
});

const Operator = Type.Enum(
  [
    'equals',
    'not_equals',
    'greater_than',
    'greater_than_or_equal',
    'less_than',
    'less_than_or_equal',
    'contains',
    'not_contains',
    'starts_with',
    'not_starts_with',
    'ends_with',
    'not_ends_with',
    'is_null',
    'is_not_null',
    'is_empty',
    'is_not_empty',
    'between',
    'custom',
  ],
  { description: 'How the member is compared with the value; `equals` by default' },
);

/** Clients send these flags, and nothing depends on them. */
const flag = (description: string) => Type.Optional(Type.Unknown({ description }));
const flags = {
  caseSensitive: flag('Kept, without an effect: texts are compared as queries do'),
  startInclusive: flag('Kept, without an effect: ranges include their first day or number'),
  endInclusive: flag('Kept, without an effect: ranges include their last day or number'),
};
const VALUE = 'One value or several, as the control of the dashboard takes them';

const FilterInput = Shape('DashboardFilterInput', {
  member: Member,
  operator: Maybe(Operator),
  value: Type.Optional(
    Type.Unsafe<string | number | boolean | (string | number | boolean | null)[] | null>({
      type: ['string', 'number', 'boolean', 'array', 'null'],
      maxLength: 1000,
      maxItems: 1000,
      items: { type: ['string', 'number', 'boolean', 'null'], maxLength: 1000 },
      description: VALUE,
    }),
  ),
  ...flags,
});
const Filter = Shape('DashboardFilter', {
  member: Type.String({ description: 'The member of a filter of the dashboard' }),
  operator: Maybe(Operator),
  value: Type.Optional(Type.Unknown({ description: VALUE })),
  ...flags,
});

const Grain = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'One of those that the control offers',
  examples: ['month'],
});
const TimeGrainInput = Shape('DashboardTimeGrainInput', { member: Member, grain: Grain });
const TimeGrain = Shape('DashboardTimeGrain', {
  member: Type.String({ description: 'The member of a time grain of the dashboard' }),
  grain: Grain,
});

const CONTROLS_MAX = 50;
const FILTERS = 'The filters in force, of controls that the published dashboard has';
const GRAINS = 'The time grains in force, of controls that the published dashboard has';

export const ScheduleType = Type.Enum(['HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'CUSTOM'], {
  description: 'How often it runs; each type has fields of its own',
});

const field = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description });
export const timing = {
  minute: field(0, 59, 'The minute of the hour; 0 by default. Not with `CUSTOM`'),
  hour: field(0, 23, 'The hour of the day, for `DAILY`, `WEEKLY` and `MONTHLY`'),
  dayOfWeek: field(0, 6, 'For `WEEKLY`; 0 is Sunday'),
  dayOfMonth: field(1, 31, 'For `MONTHLY`. In a month without this day it is the last day'),
  customCron: Type.String({
    maxLength: 100,
    description: 'For `CUSTOM`: five fields, from minutes to days of the week',
    examples: ['0 9 * * 1-5'],
  }),
};

export const Format = Type.Enum(['png', 'pdf'], { description: 'What is sent; `png` by default' });
const Timezone = Type.String({
  maxLength: 100,
  description: 'The IANA zone of the schedule; by default that of the account, else UTC',
  examples: ['Europe/Berlin'],
});

const NAME = 'What it is called; by default the title of the dashboard';
const AllowSubscribe = Type.Boolean({
  description: 'Whether viewers with an embed token see it and may subscribe; false by default',
});

const Condition = Shape('NotificationCondition', {
  widgetId: Type.String({ minLength: 1, maxLength: 128, description: 'A chart of the dashboard' }),
  measure: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'A measure of its query, taken over all rows that the reader sees',
    examples: ['orders.revenue'],
  }),
  operator: Type.Enum(['above', 'below', 'changed_by_percent', 'no_data'], {
    description: 'When the condition is true. `changed_by_percent` compares with the run before',
  }),
  value: Maybe(Type.Number({ description: 'What the measure is compared with; not for `no_data`' })),
});

export const settings = {
  minute: Maybe(timing.minute),
  hour: Maybe(timing.hour),
  dayOfWeek: Maybe(timing.dayOfWeek),
  dayOfMonth: Maybe(timing.dayOfMonth),
  customCron: Maybe(timing.customCron),
  timezone: Maybe(Timezone),
  filters: Maybe(Type.Array(FilterInput, { maxItems: CONTROLS_MAX, description: FILTERS })),
  timeGrains: Maybe(Type.Array(TimeGrainInput, { maxItems: CONTROLS_MAX, description: GRAINS })),
  isEnabled: Maybe(
    Type.Boolean({
      description: 'Whether the schedule runs, and renews what the dashboard reads; true by default',
    }),
  ),
  notificationEnabled: Maybe(
    Type.Boolean({
      description: 'Whether a run also sends the dashboard to the recipients; true by default',
    }),
  ),
  notificationFormat: Maybe(Format),
  name: Maybe(Type.String({ maxLength: 255, description: NAME })),
  condition: Maybe(Condition),
  allowSubscribe: Maybe(AllowSubscribe),
};

export const Notification = Shape('NotificationDto', {
  id: { ...Id, description: 'The number of the notification' },
  deploymentId: { ...Id, description: 'The deployment of the dashboard' },
  dashboardId: { ...Id, description: 'The dashboard that it shows' },
  dashboardPublicId: Type.String({ description: 'The public id of the dashboard' }),
  name: Type.String({ description: NAME }),
  isEnabled: Type.Boolean({ description: 'Whether the schedule runs' }),
  notificationEnabled: Type.Boolean({ description: 'Whether a run also sends the dashboard' }),
  notificationFormat: Type.String({ description: '`png` or `pdf`' }),
  scheduleType: ScheduleType,
  minute: Maybe(timing.minute),
  hour: Maybe(timing.hour),
  dayOfWeek: Maybe(timing.dayOfWeek),
  dayOfMonth: Maybe(timing.dayOfMonth),
  customCron: Maybe(timing.customCron),
  cronExpression: Type.String({
    description: 'The schedule as cron, in its time zone; `L` is the last day of a month',
    examples: ['0 9 * * 1'],
  }),
  humanReadableSchedule: Type.String({
    description: "The schedule in words, in the account's language",
    examples: ['At 09:00, only on Monday'],
  }),
  timezone: Type.String({ description: 'The IANA zone of the schedule' }),
  nextRunAt: Maybe({ ...DateTime, description: 'When it runs next; null while it is off' }),
  filters: Maybe(Type.Array(Filter, { description: FILTERS })),
  timeGrains: Maybe(Type.Array(TimeGrain, { description: GRAINS })),
  condition: Maybe(Condition),
  allowSubscribe: AllowSubscribe,
  isSubscribed: Type.Boolean({ description: 'Whether the caller is among the recipients' }),
  canEdit: Type.Boolean({ description: 'Whether the caller may change it, and sees all recipients' }),
  ownerId: Maybe({ ...Id, description: 'The user who owns it, whose view channels of Slack get' }),
  embedTenantName: Maybe(
    Type.String({ description: 'The embed tenant that it belongs to; null for the main workspace' }),
  ),
});

export const RecipientType = Type.Enum(['USER', 'EMBED_USER', 'SLACK', 'GROUP', 'WEBHOOK'], {
  title: 'NotificationRecipientType',
  description: 'A person, an embed user, a channel of Slack, a group of users, or a webhook of the account',
});

export const Recipient = Shape('NotificationRecipient', {
  id: { ...Id, description: 'The number of the recipient' },
  type: RecipientType,
  userId: Maybe({ ...Id, description: 'The person, of a `USER`' }),
  username: Maybe(Type.String({ description: 'The username of the person or embed user' })),
  email: Maybe(Type.String({ description: 'Where mail for it goes' })),
  embedTenantName: Maybe(Type.String({ description: 'The embed tenant of an `EMBED_USER`' })),
  embedUserId: Maybe({ ...Id, description: 'The embed user, of an `EMBED_USER`' }),
  externalId: Maybe(Type.String({ description: 'The id of an `EMBED_USER` in your product' })),
  channelId: Maybe(Type.String({ description: 'The channel of `SLACK`' })),
  channelName: Maybe(Type.String({ description: 'The name of the channel, for people' })),
  groupId: Maybe({ ...Id, description: 'The group of users, of a `GROUP`' }),
  groupName: Maybe(Type.String({ description: 'The name of the group' })),
  webhookId: Maybe({ ...Id, description: 'The webhook, of a `WEBHOOK`' }),
  isUnsubscribed: Type.Boolean({ description: 'Whether they left by a link; then nothing is sent' }),
  problem: Maybe(Type.String({ description: 'Why the last one could not be sent; null if it could' })),
});

export const RecipientInput = Shape('NotificationRecipientInput', {
  type: RecipientType,
  userId: Maybe({ ...Id, description: 'For `USER`: the person' }),
  email: Maybe({
    ...Email,
    description:
      'For `USER` in place of `userId`: the address of the person. For `EMBED_USER`: becomes the email of the embed user',
  }),
  embedTenantName: Maybe({
    ...EmbedTenantName,
    description: 'For `EMBED_USER`: the customer; by default the account itself',
  }),
  externalId: Maybe({
    ...reference,
    description: 'For `EMBED_USER`: the id in your product, lowercase and trimmed',
  }),
  groups: names('For `EMBED_USER`: provisions the embed user, as in a session'),
  userAttributes: Maybe(UserAttributeInputs),
  securityContext: Maybe(SecurityContext),
  channelId: Maybe(
    Type.String({
      maxLength: 80,
      ...matching('^[A-Z0-9]{2,80}$', 'must be the id of a channel, such as C0123456789'),
      description: 'For `SLACK`: the id of the channel',
      examples: ['C0123456789'],
    }),
  ),
  channelName: Maybe(Type.String({ maxLength: 100, description: 'For `SLACK`: its name, for people' })),
  groupId: Maybe({ ...Id, description: 'For `GROUP`: a group of users, whose members get it at each run' }),
  webhookId: Maybe({ ...Id, description: 'For `WEBHOOK`: a webhook of the account' }),
});

export const RemovedRecipient = Shape('RemoveNotificationRecipientInput', {
  type: RecipientType,
  id: Type.Unsafe<number | string>({
    type: ['integer', 'string'],
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    minLength: 1,
    maxLength: 255,
    description:
      'The `userId`, `embedUserId`, `channelId`, `groupId` or `webhookId`; for `EMBED_USER` also the `externalId`, as text',
  }),
  embedTenantName: Maybe({
    ...EmbedTenantName,
    description: 'For an `externalId`; by default the account itself',
  }),
});
