import { Type } from 'typebox';
import { Form, Html } from '../kinds.ts';
import { operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Maybe, Nullable, Shape } from '../schemas.ts';

const path = '/api/v1/deployments/{deploymentId}/notifications/{id}';
const params = { deploymentId: Id, id: { ...Id, description: 'The number of the notification' } };
const common = {
  tag: 'Notifications',
  auth: 'management',
  permissionOn: 'unlessCreator',
} as const;

const Run = Shape('NotificationRun', {
  id: { ...Id, description: 'The number of the run' },
  dueAt: Nullable({ ...DateTime, description: 'When it was due; null if somebody asked for it' }),
  requestedBy: Nullable({ ...Id, description: 'The user who asked for it; null if the schedule did' }),
  isPreview: Type.Boolean({ description: 'Whether it was sent only to whoever asked for it' }),
  state: Type.Enum(['waiting', 'running', 'done', 'failed', 'missed'], {
    description:
      '`missed` if no server ran within an hour after it was due. `failed` if a recipient did not get it',
  }),
  phase: Nullable(
    Type.Enum(['checking', 'reading', 'sending', 'retrying'], { description: 'What a running one does' }),
  ),
  reason: Nullable(Type.String({ description: 'Why it failed or was missed' })),
  renderings: Type.Integer({
    description: 'How often the dashboard was drawn: once for readers with equal rows',
  }),
  sent: Type.Integer({ description: 'How many recipients were sent it' }),
  skipped: Type.Integer({ description: 'How many may not get it, such as readers who lost access' }),
  failed: Type.Integer({ description: 'How many could not be sent it' }),
  waiting: Type.Integer({ description: 'How many are still to be sent it' }),
  hidesOthers: Type.Boolean({
    description:
      'Whether the counts, the reason and the deliveries leave out what became of others: with a condition, that would tell what they see, so only admins are shown it',
  }),
  createdAt: { ...DateTime, description: 'When it was begun, or recorded as missed' },
  startedAt: Nullable({ ...DateTime, description: 'When a server began with it' }),
  finishedAt: Nullable({ ...DateTime, description: 'When it ended' }),
});

export const runNotification = operation({
  ...common,
  embed: 'creator',
  id: 'runNotification',
  method: 'POST',
  path: `${path}/run`,
  summary: 'Run a notification now',
  description:
    'Renews what the dashboard reads and, if sending is on, sends it to the recipients. With `preview`, it is sent to the caller only. The schedule stays as it is.',
  permission: 'AlertsUpdate',
  params,
  body: Shape(
    'RunNotificationInput',
    { preview: Maybe(Type.Boolean({ description: 'Send it to the caller only; false by default' })) },
    { examples: [{ preview: true }] },
  ),
  optionalBody: true,
  rate: { max: 30, perSeconds: 60 },
  reply: Run,
  errors: ['notification_not_found', 'forbidden', 'rate_limited', 'run_in_progress'],
  audit: 'notification',
});

export const listNotificationRuns = operation({
  ...common,
  embed: 'creator',
  id: 'listNotificationRuns',
  method: 'GET',
  path: `${path}/runs`,
  summary: 'List the runs of a notification',
  description:
    'Newest first, for whoever may change it. They are kept for a month. What was sent is not kept.',
  permission: 'AlertsRead',
  params,
  query: cursorQuery,
  reply: CursorPage('NotificationRunsListResponse', Run),
  errors: ['notification_not_found', 'forbidden'],
  audit: 'none',
});

const Delivery = Shape('NotificationDelivery', {
  id: { ...Id, description: 'The number of the delivery' },
  type: Type.Enum(['USER', 'EMBED_USER', 'SLACK', 'WEBHOOK'], { description: 'The kind of recipient' }),
  userId: Nullable({ ...Id, description: 'The person or embed user; null for others' }),
  address: Nullable(
    Type.String({
      description: 'The channel or webhook; the mail address for admins, and of those without an account',
    }),
  ),
  status: Type.Enum(['waiting', 'sending', 'sent', 'failed', 'skipped', 'unknown'], {
    description: '`unknown` if the server stopped while it was sent: it is not sent again',
  }),
  reason: Nullable(Type.String({ description: 'Why it was not sent' })),
  attempts: Type.Integer({ description: 'How often it was tried' }),
  finishedAt: Nullable({ ...DateTime, description: 'When that was decided' }),
});

export const listNotificationDeliveries = operation({
  ...common,
  embed: 'creator',
  id: 'listNotificationDeliveries',
  method: 'GET',
  path: `${path}/runs/{runId}/deliveries`,
  summary: 'List what became of a run for each recipient',
  description:
    'In the order of the recipients, with the reason if somebody did not get it. Of a run with a condition, only admins are shown what became of others.',
  permission: 'AlertsRead',
  params: { ...params, runId: { ...Id, description: 'The number of the run' } },
  query: cursorQuery,
  reply: CursorPage('NotificationDeliveriesListResponse', Delivery),
  errors: ['notification_not_found', 'notification_run_not_found', 'forbidden'],
  audit: 'none',
});

const link = {
  tag: 'Pages',
  auth: 'public',
  permission: 'none',
  path: '/notifications/unsubscribe',
  query: {
    token: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Who leaves which notification',
      examples: ['AbCd'],
    }),
  },
  reply: Html,
  replyHeaders: {
    'content-security-policy': Type.String(),
    'referrer-policy': Type.String({ description: 'Addresses with secrets are not sent to other servers' }),
  },
  errors: ['link_not_valid'],
} as const;

export const unsubscribePage = operation({
  ...link,
  id: 'unsubscribePage',
  method: 'GET',
  errorShape: 'page',
  summary: 'Show the page on which somebody leaves a notification',
  description: 'For the link in a message. It changes nothing, because programs open links too.',
  audit: 'none',
});

export const unsubscribeByLink = operation({
  ...link,
  id: 'unsubscribeByLink',
  method: 'POST',
  body: Form(
    Shape(
      'UnsubscribeForm',
      {
        'List-Unsubscribe': Type.Optional(
          Type.String({ maxLength: 100, description: '`One-Click`, from mail programs' }),
        ),
      },
      { examples: [{ 'List-Unsubscribe': 'One-Click' }] },
    ),
  ),
  optionalBody: true,
  summary: 'Leave a notification',
  description:
    'What the page sends and, as RFC 8058 has it, mail programs with one click. No sign-in is needed.',
  audit: 'notification',
});
