import { randomUUID } from 'node:crypto';
import { limits, operations } from '@oriel/contract';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { type Cursors, pageById, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import {
  type DeliveryRow,
  insertTest,
  listDeliveries,
  resetDeliveries,
  resetDelivery,
} from './deliveries.store.ts';
import { messageIdOf } from './events.ts';
import { requireUrl } from './rules.ts';
import type { WebhookSecrets } from './secrets.ts';
import * as store from './store.ts';

interface Options {
  cursors: Cursors;
  secrets: WebhookSecrets;
  sender: JobKind;
  allowPrivate: boolean;
}

const LIST = 'webhook deliveries by id, newest first';
/** The type of the event that only `testWebhook` makes. A test waits for nothing, and nothing waits for it. */
const TEST = 'webhook.test';
/** How many deliveries are sent again at once. */
const RANGE_MAX = 1000;
const DEFAULT_OVERLAP_SECONDS = 86_400;

const toDelivery = (row: DeliveryRow) => ({ ...row, messageId: messageIdOf(row.messageId) });
const lock = async (tx: Tx, id: number) => found(await store.lockWebhook(tx, id), 'webhook_not_found');

export const webhookRoutes = ({ cursors, secrets, sender, allowPrivate }: Options) => [
  handle(operations.listWebhooks, ({ db }, { query }) =>
    pageById(cursors, 'webhooks by id', query, (page) => store.listWebhooks(db, page)),
  ),

  handle(operations.createWebhook, ({ change }, { body }) => {
    requireUrl(body.url, { allowPrivate });
    const { url, events, name, isEnabled } = body;
    const wanted = {
      name: name ?? new URL(url).hostname,
      url,
      events,
      isEnabled: isEnabled ?? true,
      notice: null,
      failingSince: null,
    };
    return change(async (tx) => {
      await store.lockCreation(tx);
      if ((await store.countWebhooks(tx)) >= limits.webhooks) throw new ApiError('webhook_limit_reached');
      const webhook = await store.insertWebhook(tx, wanted);
      const secret = await secrets.add(tx, webhook.id, 0);
      return { reply: { ...webhook, secret }, changes: created(webhook) };
    });
  }),

  handle(operations.getWebhook, async ({ db }, { params }) =>
    found(await store.findWebhook(db, params.id), 'webhook_not_found'),
  ),

  handle(operations.updateWebhook, ({ change }, { params, body }) => {
    if (body.url !== undefined) requireUrl(body.url, { allowPrivate });
    return change(async (tx) => {
      const before = await lock(tx, params.id);
      const isSwitchedOn = body.isEnabled === true && !before.isEnabled;
      if (isSwitchedOn && !(await store.listSecrets(tx, before.id)).length) {
        throw new ApiError('webhook_without_secret');
      }
      const after = await store.updateWebhook(tx, before.id, {
        ...before,
        ...(isSwitchedOn && { notice: null, failingSince: null }),
        name: body.name ?? before.name,
        url: body.url ?? before.url,
        events: body.events ?? before.events,
        isEnabled: body.isEnabled ?? before.isEnabled,
      });
      if (isSwitchedOn) await enqueue(tx, sender, {});
      return { reply: after, changes: changed(before, after) };
    });
  }),

  handle(operations.deleteWebhook, ({ change }, { params }) =>
    change(async (tx) => {
      const before = found(await store.deleteWebhook(tx, params.id), 'webhook_not_found');
      return { reply: undefined, changes: deleted(before) };
    }),
  ),

  handle(operations.rotateWebhookSecret, ({ change }, { params, body }) =>
    change(async (tx) => {
      const before = await lock(tx, params.id);
      const secret = await secrets.add(tx, before.id, body.overlapSeconds ?? DEFAULT_OVERLAP_SECONDS);
      const after = await store.updateWebhook(tx, before.id, before);
      return { reply: { ...after, secret }, changes: changed(before, after) };
    }),
  ),

  handle(operations.listWebhookDeliveries, async ({ db }, { params, query }) => {
    found(await store.findWebhook(db, params.id), 'webhook_not_found');
    const size = pageSize(query.first);
    const list = `${LIST}, of ${params.id}`;
    const beforeId = query.after ? (cursors.decode(list, query.after)[0] as number) : null;
    const page = { status: query.status ?? null, beforeId, limit: size + 1 };
    const rows = await listDeliveries(db, params.id, page);
    return toPage(rows.map(toDelivery), {
      size,
      after: query.after,
      cursorOf: ({ id }) => cursors.encode(list, [id]),
    });
  }),

  handle(operations.redeliverWebhook, ({ change }, { params }) =>
    change(async (tx) => {
      const webhook = await lock(tx, params.id);
      const row = found(await resetDelivery(tx, webhook.id, params.deliveryId), 'webhook_delivery_not_found');
      if (!webhook.isEnabled) throw new ApiError('webhook_disabled');
      await enqueue(tx, sender, {});
      const delivery = toDelivery(row);
      const changes = { id: webhook.id, before: {}, after: { redelivered: delivery.messageId } };
      return { reply: delivery, changes };
    }),
  ),

  handle(operations.testWebhook, ({ change }, { params }) =>
    change(async (tx) => {
      const webhook = await lock(tx, params.id);
      if (!webhook.isEnabled) throw new ApiError('webhook_disabled');
      const timestamp = new Date().toISOString();
      const payload = JSON.stringify({ type: TEST, timestamp, data: { id: String(webhook.id) } });
      const resource = `${TEST}:${randomUUID()}`;
      const delivery = toDelivery(await insertTest(tx, webhook.id, { event: TEST, resource, payload }));
      await enqueue(tx, sender, {});
      return {
        reply: delivery,
        changes: { id: webhook.id, before: {}, after: { tested: delivery.messageId } },
      };
    }),
  ),

  handle(operations.redeliverWebhookRange, ({ change }, { params, body }) =>
    change(async (tx) => {
      const webhook = await lock(tx, params.id);
      if (!webhook.isEnabled) throw new ApiError('webhook_disabled');
      const { since, until = null, status = null } = body;
      const reply = await resetDeliveries(tx, webhook.id, { since, until, status, limit: RANGE_MAX });
      if (reply.count) await enqueue(tx, sender, {});
      const changes = { id: webhook.id, before: {}, after: { redelivered: `${reply.count} since ${since}` } };
      return { reply, changes };
    }),
  ),
];
