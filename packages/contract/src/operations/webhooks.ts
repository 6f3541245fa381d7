import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { limits } from '../limits.ts';
import { Nothing, operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Maybe, Name, Nullable, Shape, Url } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';
import { webhookEvents } from '../webhook-events.ts';

export const tags = {
  Webhooks: 'Requests that this server sends to yours when something has changed.',
} satisfies TagDefinitions;

export const errors = {
  webhook_not_found: { status: 404, message: 'There is no such webhook.' },
  webhook_delivery_not_found: { status: 404, message: 'There is no such delivery.' },
  webhook_limit_reached: { status: 409, message: `There can be at most ${limits.webhooks} webhooks.` },
  webhook_disabled: {
    status: 409,
    message: 'The webhook is switched off, so nothing is sent. Set `isEnabled` to true first.',
  },
  webhook_without_secret: {
    status: 409,
    message: 'The webhook has no secret any more. Rotate the secret first.',
  },
} as const satisfies ErrorDefinitions;

const Events = Type.Array(Type.Enum(['*', ...webhookEvents]), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'Which events are sent; `*` is all of them',
  examples: [['dashboard.published', 'build.failed']],
});

const WebhookName = {
  ...Name,
  description: 'What the webhook is for, for people. By default the host of the address',
};

const WebhookUrl = {
  ...Url,
  description:
    'Where events are sent by POST: an https address without a user name. Private addresses are refused, unless the server allows them',
  examples: ['https://hooks.example.com/oriel'],
};

const fields = {
  id: { ...Id, description: 'The number of the webhook' },
  name: Type.String({ description: 'What the webhook is for, for people' }),
  url: Type.String({ description: 'Where events are sent' }),
  events: Events,
  isEnabled: Type.Boolean({
    description: 'Whether events are sent; what happens while it is off is not sent later',
  }),
  notice: Nullable(
    Type.String({ description: 'Why the server switched the webhook off; null if it did not' }),
  ),
  failingSince: Nullable({
    ...DateTime,
    description: 'Since when every attempt has failed; null if the last one did not',
  }),
  previousSecretEndsAt: Nullable({
    ...DateTime,
    description: 'Until when requests are also signed with the secret before the last rotation',
  }),
  createdAt: DateTime,
  updatedAt: DateTime,
};

const Webhook = Shape('Webhook', fields);
const Secret = Type.String({
  description: 'Signs the requests, as Standard Webhooks describes it. It is shown only once, in this reply',
});

const Delivery = Shape('WebhookDelivery', {
  id: { ...Id, description: 'The number of the delivery' },
  messageId: Type.String({ description: 'The header `webhook-id`, the same at each attempt' }),
  event: Type.String({ description: 'The type of the event' }),
  payload: Type.String({ description: 'The body that is sent, as text' }),
  status: Type.Enum(['pending', 'delivered', 'failed'], {
    description: '`pending` until an attempt succeeds, or a day of attempts has failed',
  }),
  attempts: Type.Integer({ description: 'How often it was sent' }),
  nextAttemptAt: Nullable({ ...DateTime, description: 'When it is sent next; null if it is not' }),
  responseStatus: Nullable(
    Type.Integer({ description: 'The status of the last answer; null if there was none' }),
  ),
  error: Nullable(Type.String({ description: 'Why the last attempt failed; null if it did not' })),
  createdAt: { ...DateTime, description: 'When the change was made' },
  finishedAt: Nullable({ ...DateTime, description: 'When it was delivered or given up' }),
});

const path = '/api/v1/webhooks';
const common = { tag: 'Webhooks', auth: 'management', permission: 'All', scopedKeys: 'refused' } as const;
const one = { id: Id };

export const listWebhooks = operation({
  ...common,
  id: 'listWebhooks',
  method: 'GET',
  path,
  summary: 'List webhooks',
  description: 'Oldest first.',
  query: cursorQuery,
  reply: CursorPage('WebhooksListResponse', Webhook),
  audit: 'none',
});

export const createWebhook = operation({
  ...common,
  id: 'createWebhook',
  method: 'POST',
  path,
  summary: 'Create a webhook',
  description:
    'Events of changes from then on are sent, signed with the secret in the reply. See docs/webhooks.md.',
  body: Shape(
    'CreateWebhookInput',
    {
      name: Maybe(WebhookName),
      url: WebhookUrl,
      events: Events,
      isEnabled: Maybe(Type.Boolean({ description: 'Whether events are sent; true by default' })),
    },
    {
      examples: [
        {
          name: 'Chat',
          url: 'https://hooks.example.com/oriel',
          events: ['dashboard.published', 'build.failed'],
        },
      ],
    },
  ),
  reply: Shape('CreatedWebhook', { ...fields, secret: Secret }),
  secretReply: true,
  errors: ['webhook_limit_reached'],
  audit: 'webhook',
});

export const getWebhook = operation({
  ...common,
  id: 'getWebhook',
  method: 'GET',
  path: `${path}/{id}`,
  summary: 'Get a webhook',
  description: 'Its secret is not part of it: it was shown once, when it was made.',
  params: one,
  reply: Webhook,
  errors: ['webhook_not_found'],
  audit: 'none',
});

export const updateWebhook = operation({
  ...common,
  id: 'updateWebhook',
  method: 'PUT',
  path: `${path}/{id}`,
  summary: 'Change a webhook, or switch it on or off',
  description:
    'Absent fields stay as they are. What was waiting when it was switched off is sent when it is switched on again, within a week.',
  params: one,
  body: Shape(
    'UpdateWebhookInput',
    {
      name: Maybe(WebhookName),
      url: Type.Optional(WebhookUrl),
      events: Type.Optional(Events),
      isEnabled: Maybe(Type.Boolean({ description: 'Whether events are sent. `true` also clears `notice`' })),
    },
    { examples: [{ events: ['*'] }] },
  ),
  reply: Webhook,
  errors: ['webhook_not_found', 'webhook_without_secret'],
  audit: 'webhook',
});

export const deleteWebhook = operation({
  ...common,
  id: 'deleteWebhook',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Delete a webhook',
  description: 'What waits is not sent any more, and its deliveries are deleted with it.',
  params: one,
  reply: Nothing,
  errors: ['webhook_not_found'],
  audit: 'webhook',
});

export const rotateWebhookSecret = operation({
  ...common,
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: `${path}/{id}/rotate-secret`,
  summary: 'Give a webhook a new secret',
  description:
    'For a while requests are signed with both secrets, so that your server can take the new one without losing any.',
  params: one,
  body: Shape(
    'RotateWebhookSecretInput',
    {
      overlapSeconds: Maybe(
        Type.Integer({
          minimum: 0,
          maximum: 7 * 86_400,
          description: 'How long the secret before still signs; a day by default, 0 after a leak',
        }),
      ),
    },
    { examples: [{ overlapSeconds: 3600 }] },
  ),
  optionalBody: true,
  reply: Shape('RotatedWebhook', { ...fields, secret: Secret }),
  secretReply: true,
  errors: ['webhook_not_found'],
  audit: 'webhook',
});

const ofOne = `${path}/{id}/deliveries`;

export const listWebhookDeliveries = operation({
  ...common,
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: ofOne,
  summary: 'List what a webhook was sent, and what waits',
  description: 'Newest first. Deliveries are kept for a week.',
  params: one,
  query: {
    status: Maybe(
      Type.Enum(['pending', 'delivered', 'failed'], { description: 'Only deliveries with this status' }),
    ),
    ...cursorQuery,
  },
  reply: CursorPage('WebhookDeliveriesListResponse', Delivery),
  errors: ['webhook_not_found'],
  audit: 'none',
});

export const redeliverWebhook = operation({
  ...common,
  id: 'redeliverWebhook',
  method: 'POST',
  path: `${ofOne}/{deliveryId}/redeliver`,
  summary: 'Send a delivery again',
  description:
    'With the same `webhook-id` and body, at once and then as often as a new one. Later events of the same resource wait for it.',
  params: { ...one, deliveryId: Id },
  reply: Delivery,
  errors: ['webhook_not_found', 'webhook_delivery_not_found', 'webhook_disabled'],
  audit: 'webhook',
});

export const testWebhook = operation({
  ...common,
  id: 'testWebhook',
  method: 'POST',
  path: `${path}/{id}/test`,
  summary: 'Send a webhook a test',
  description:
    'An event of the type `webhook.test` goes to this webhook only, whatever events it wants, with the same signature and retries as others. The reply is its delivery: look at it again in the list of deliveries.',
  params: one,
  reply: Delivery,
  errors: ['webhook_not_found', 'webhook_disabled'],
  rate: { max: 60, perSeconds: 60 },
  audit: 'webhook',
});

export const redeliverWebhookRange = operation({
  ...common,
  id: 'redeliverWebhookRange',
  method: 'POST',
  path: `${ofOne}/redeliver`,
  summary: 'Send the deliveries of a time again',
  description:
    'For a receiver that lost what it was sent. The oldest 1,000 of the time that are not waiting already are sent again, each with the same `webhook-id` and body. If there were more, `lastCreatedAt` says from when to go on.',
  params: one,
  body: Shape(
    'RedeliverWebhookRangeInput',
    {
      since: { ...DateTime, description: 'The beginning of the time, inclusive' },
      until: Maybe({ ...DateTime, description: 'The end of the time, exclusive; by default now' }),
      status: Maybe(
        Type.Enum(['delivered', 'failed'], {
          description: 'Only deliveries with this status; by default both',
        }),
      ),
    },
    { examples: [{ since: '2026-01-31T09:00:00.000Z', status: 'failed' }] },
  ),
  reply: Shape('RedeliverWebhookRangeResponse', {
    count: Type.Integer({ minimum: 0, description: 'How many are sent again' }),
    lastCreatedAt: Nullable({ ...DateTime, description: 'Of the newest of them; null if there are none' }),
  }),
  errors: ['webhook_not_found', 'webhook_disabled'],
  audit: 'webhook',
});
