import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { limits } from '../limits.ts';
import {
  Notification,
  Recipient,
  RecipientInput,
  RemovedRecipient,
  ScheduleType,
  settings,
} from '../notifications.ts';
import { Nothing, operation } from '../operation.ts';
import { CursorPage, cursorQuery, Id, Maybe, nullableCursorQuery, PublicId, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Notifications: 'Schedules that renew dashboards and send them, to each reader with their own rows.',
} satisfies TagDefinitions;

export const errors = {
  notification_not_found: { status: 404, message: 'There is no such notification.' },
  notification_run_not_found: { status: 404, message: 'There is no such run of the notification.' },
  run_in_progress: { status: 409, message: 'It is being run already. Wait until that has ended.' },
  dashboard_id_required: {
    status: 400,
    message: 'Give exactly one of `dashboardId` and `dashboardPublicId`.',
  },
  invalid_schedule: { status: 400, message: 'The schedule is not valid.' },
  control_not_found: { status: 400, message: 'The published dashboard has no such control.' },
  duplicate_recipient: { status: 400, message: 'A recipient is given twice.' },
  recipient_not_allowed: {
    status: 403,
    message: 'The settings of the account do not let schedules reach this recipient.',
  },
  notification_limit_reached: {
    status: 409,
    message: `A dashboard can have at most ${limits.notificationsOfDashboard} notifications.`,
  },
  embed_notification_limit_reached: {
    status: 403,
    message: 'The embed tenant has as many notifications as the account allows.',
  },
  recipient_limit_reached: {
    status: 409,
    message: `A notification can have at most ${limits.recipients} recipients.`,
  },
} as const satisfies ErrorDefinitions;

const path = '/api/v1/deployments/{deploymentId}/notifications';
const common = { tag: 'Notifications', auth: 'management' } as const;
const params = { deploymentId: Id };
const one = { deploymentId: Id, id: { ...Id, description: 'The number of the notification' } };
/** Creators make notifications in their embed tenant, without an action. */
const changing = { permissionOn: 'unlessCreator', audit: 'notification' } as const;
const reading = { permission: 'none', audit: 'none' } as const;

const FIRST_MAX = 200;

export const getNotifications = operation({
  ...common,
  ...reading,
  embed: 'viewer',
  id: 'getNotifications',
  method: 'GET',
  path,
  summary: 'List notifications',
  description:
    'Those of the dashboards that the caller sees, oldest first. Filters by recipients find only what the caller may know of: their own subscriptions or, for whoever may change a notification and has `AlertsRead`, all of them.',
  params,
  query: {
    dashboardId: Maybe({ ...Id, description: 'Only those of this dashboard' }),
    dashboardPublicId: Maybe(
      Type.String({ maxLength: 255, description: 'Only those of the dashboard with this public id' }),
    ),
    recipientUserId: Maybe({ ...Id, description: 'Only those that go to this person' }),
    recipientEmail: Maybe(
      Type.String({ maxLength: 254, description: 'Only those that go to the person with this address' }),
    ),
    recipientEmbedTenantName: Maybe(
      Type.String({ maxLength: 255, description: 'Only those that go to embed users of this embed tenant' }),
    ),
    recipientExternalId: Maybe(
      Type.String({
        maxLength: 255,
        description:
          'Only those that go to this embed user of `recipientEmbedTenantName` or, without it, of the account itself',
      }),
    ),
    ...cursorQuery,
    first: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: `Page size; 50 by default; a larger value than ${FIRST_MAX} counts as ${FIRST_MAX}`,
      }),
    ),
  },
  reply: CursorPage('NotificationsListResponse', Notification),
});

export const createNotification = operation({
  ...common,
  ...changing,
  embed: 'creator',
  id: 'createNotification',
  method: 'POST',
  path,
  summary: 'Create a notification',
  description:
    'A schedule of a published dashboard. Add recipients to it with `addRecipients`. The caller needs edit on the workbook; in creator mode they must see the dashboard, and the notification belongs to their embed tenant. A schedule that is never due, such as `0 0 30 2 *`, is refused.',
  permission: 'AlertsCreate',
  params,
  body: Shape(
    'CreateNotificationInput',
    {
      dashboardId: Maybe({ ...Id, description: 'The dashboard, or `dashboardPublicId`' }),
      dashboardPublicId: Maybe({ ...PublicId, description: 'The dashboard, or `dashboardId`' }),
      scheduleType: ScheduleType,
      ...settings,
    },
    {
      examples: [
        {
          dashboardPublicId: 'DemoCommerce',
          scheduleType: 'WEEKLY',
          dayOfWeek: 1,
          hour: 9,
          timezone: 'Europe/Berlin',
        },
      ],
    },
  ),
  reply: Notification,
  errors: [
    'dashboard_id_required',
    'dashboard_not_found',
    'not_published',
    'invalid_schedule',
    'control_not_found',
    'notification_limit_reached',
    'embed_notification_limit_reached',
    'forbidden',
  ],
});

export const getNotification = operation({
  ...common,
  ...reading,
  embed: 'viewer',
  id: 'getNotification',
  method: 'GET',
  path: `${path}/{id}`,
  summary: 'Get a notification',
  description: 'For everybody who sees the dashboard; with an embed token, only if it allows to subscribe.',
  params: one,
  reply: Notification,
  errors: ['notification_not_found'],
});

export const updateNotification = operation({
  ...common,
  ...changing,
  embed: 'creator',
  id: 'updateNotification',
  method: 'PUT',
  path: `${path}/{id}`,
  summary: 'Change a notification, or switch it on or off',
  description:
    'Fields that are absent or null stay as they are, except `filters`, `timeGrains` and `condition`: null removes them. A new `scheduleType` needs its own fields.',
  permission: 'AlertsUpdate',
  params: one,
  body: Shape(
    'UpdateNotificationInput',
    { scheduleType: Maybe(ScheduleType), ...settings },
    { examples: [{ isEnabled: false }] },
  ),
  reply: Notification,
  errors: ['notification_not_found', 'invalid_schedule', 'control_not_found', 'not_published', 'forbidden'],
});

export const deleteNotification = operation({
  ...common,
  ...changing,
  embed: 'creator',
  id: 'deleteNotification',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Delete a notification',
  description: 'With its recipients and what is known of its runs. What is being sent is still sent.',
  permission: 'AlertsDelete',
  params: one,
  reply: Nothing,
  errors: ['notification_not_found', 'forbidden'],
});

const recipients = { path: `${path}/{id}/recipients`, params: one } as const;

export const getRecipients = operation({
  ...common,
  ...reading,
  embed: 'viewer',
  ...recipients,
  id: 'getRecipients',
  method: 'GET',
  summary: 'List the recipients of a notification',
  description:
    'All of them for whoever may change it and has `AlertsRead`. Everybody else finds only themselves.',
  query: nullableCursorQuery,
  reply: CursorPage('NotificationRecipientsListResponse', Recipient),
  errors: ['notification_not_found'],
});

/** Each of a thousand recipients may have a security context and attributes. */
const BODY_MAX_BYTES = 4 * 1024 * 1024;

export const addRecipients = operation({
  ...common,
  ...changing,
  embed: 'creator',
  ...recipients,
  id: 'addRecipients',
  method: 'POST',
  summary: 'Add recipients to a notification',
  description:
    'All of them, or none. `groups`, `userAttributes`, `securityContext`, `email` and a new `externalId` of an `EMBED_USER` provision the embed user as `generateSession` does, by the same rules; this needs an API key or an admin. In creator mode, recipients are known users and groups of the own embed tenant.',
  permission: 'AlertsUpdate',
  body: Shape(
    'AddNotificationRecipientsInput',
    {
      recipients: Type.Array(RecipientInput, {
        minItems: 1,
        maxItems: 1000,
        description: 'Those that are there already stay, with what is new about them',
      }),
    },
    {
      examples: [
        {
          recipients: [
            {
              type: 'EMBED_USER',
              embedTenantName: 'acme-corp',
              externalId: 'customer-42',
              email: 'ada@example.com',
            },
          ],
        },
      ],
    },
  ),
  bodyLimitBytes: BODY_MAX_BYTES,
  reply: Shape('NotificationRecipientsMutationResponse', {
    createdRecipients: Type.Array(Recipient, { description: 'Those that are new' }),
    updatedRecipients: Type.Array(Recipient, { description: 'Those about whom something is new' }),
    unchangedRecipients: Type.Array(Recipient, { description: 'Those that were there, as they are' }),
  }),
  errors: [
    'notification_not_found',
    'forbidden',
    'duplicate_recipient',
    'recipient_not_allowed',
    'recipient_limit_reached',
    'invalid_reference',
    'invalid_external_id',
    'security_context_too_large',
    'duplicate_attribute_name',
    'groups_not_found',
    'user_attributes_not_found',
    'attribute_value_mismatch',
    'attribute_type_conflict',
    'plan_required',
    'creator_mode_disabled',
    'external_user_limit_reached',
  ],
});

export const removeRecipients = operation({
  ...common,
  ...changing,
  embed: 'creator',
  ...recipients,
  id: 'removeRecipients',
  method: 'DELETE',
  summary: 'Remove recipients from a notification',
  description: 'Those that are not there are left out of account.',
  permission: 'AlertsUpdate',
  body: Shape(
    'RemoveNotificationRecipientsInput',
    {
      recipients: Type.Array(RemovedRecipient, {
        minItems: 1,
        maxItems: 1000,
        description: 'Whom to remove',
      }),
    },
    { examples: [{ recipients: [{ type: 'USER', id: 1 }] }] },
  ),
  reply: Nothing,
  errors: ['notification_not_found', 'forbidden'],
});

const self = {
  ...common,
  permission: 'none',
  audit: 'notification',
  params: one,
  reply: Notification,
} as const;

export const subscribeToNotification = operation({
  ...self,
  embed: 'viewer',
  id: 'subscribeToNotification',
  method: 'POST',
  path: `${path}/{id}/subscribe`,
  summary: 'Subscribe the caller to a notification',
  description:
    'For everybody who sees the dashboard; with an embed token, only if the notification allows it. They get their own rows.',
  errors: ['notification_not_found', 'recipient_not_allowed', 'recipient_limit_reached'],
});

export const unsubscribeFromNotification = operation({
  ...self,
  embed: 'viewer',
  id: 'unsubscribeFromNotification',
  method: 'POST',
  path: `${path}/{id}/unsubscribe`,
  summary: 'Unsubscribe the caller from a notification',
  description: 'From then on they get nothing, also if they are in a group that does.',
  errors: ['notification_not_found'],
});

export const duplicateNotification = operation({
  ...common,
  ...changing,
  embed: 'creator',
  id: 'duplicateNotification',
  method: 'POST',
  path: `${path}/{id}/duplicate`,
  summary: 'Duplicate a notification',
  description: 'The copy has the same recipients, belongs to the caller, and is switched off.',
  permission: 'AlertsCreate',
  params: one,
  reply: Notification,
  errors: [
    'notification_not_found',
    'notification_limit_reached',
    'embed_notification_limit_reached',
    'forbidden',
  ],
});
