import { operations } from '@oriel/contract';
import type { Caller } from '../../platform/auth/actor.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { html } from '../../platform/http/html.ts';
import { pageById, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import { maySeeNames } from '../access/index.ts';
import type { Show } from '../pages/index.ts';
import type { RunPayload } from './clock.ts';
import type { Links } from './links.ts';
import { lockForChange, lookerOf, requireNotification } from './notifications.ts';
import * as store from './runs.store.ts';

export interface RunRouteOptions {
  runJob: JobKind<RunPayload>;
  links: Links;
  show: Show;
}

const readerOf = (actor: Caller): store.RunReader => ({ userId: actor.userId, isAdmin: maySeeNames(actor) });

export const runRoutes = ({ runJob, links, show }: RunRouteOptions) => [
  handle(operations.runNotification, ({ actor, change }, { params, body }) =>
    change(async (tx) => {
      const { deploymentId } = params;
      const { id, embedTenant: sharer } = await lockForChange(tx, lookerOf(actor, deploymentId), params.id);
      // One after the other, so that nobody fills the queue.
      if (await store.hasRequestedRun(tx, id)) throw new ApiError('run_in_progress');
      const isPreview = body.preview ?? false;
      const run = await store.insertRun(tx, {
        notificationId: id,
        dueAt: null,
        requestedBy: actor.userId,
        isPreview,
        state: 'waiting',
        reason: null,
      });
      await enqueue(tx, runJob, { deploymentId, sharer, runId: run!.id });
      const reply = (await store.findShownRun(tx, id, run!.id, readerOf(actor)))!;
      return { reply, changes: { id, before: {}, after: { run: run!.id, isPreview } } };
    }),
  ),

  handle(operations.listNotificationRuns, async ({ actor, db, cursors }, { params, query }) => {
    const { id, mayChange } = await requireNotification(db, lookerOf(actor, params.deploymentId), params.id);
    if (!mayChange) throw new ApiError('forbidden');
    const size = pageSize(query.first);
    const list = `runs of notification ${id}, newest first`;
    const beforeId = query.after ? (cursors.decode(list, query.after)[0] as number) : null;
    const rows = await store.listRuns(db, id, { beforeId, limit: size + 1, ...readerOf(actor) });
    return toPage(rows, { size, after: query.after, cursorOf: (row) => cursors.encode(list, [row.id]) });
  }),

  handle(operations.listNotificationDeliveries, async ({ actor, db, cursors }, { params, query }) => {
    const { id, mayChange } = await requireNotification(db, lookerOf(actor, params.deploymentId), params.id);
    if (!mayChange) throw new ApiError('forbidden');
    const run = found(
      await store.findShownRun(db, id, params.runId, readerOf(actor)),
      'notification_run_not_found',
    );
    return pageById(cursors, `deliveries of run ${run.id}`, query, (page) =>
      store.listDeliveries(db, run.id, { ...page, ...readerOf(actor) }),
    );
  }),

  handle(operations.unsubscribePage, async ({ db, sendHeaders }, { query }) => {
    const linked = found(links.read(query.token), 'link_not_valid');
    const notification = found(await store.findLinked(db, linked.notificationId), 'link_not_valid');
    return show.page(sendHeaders, {
      title: 'Unsubscribe',
      body: html`<h1>Unsubscribe</h1>
<p>Do you want no more messages of <strong>${notification.name}</strong>?</p>
<form method="post"><button class="primary">Unsubscribe</button></form>`,
    });
  }),

  handle(operations.unsubscribeByLink, async ({ change, sendHeaders }, { query }) => {
    const linked = found(links.read(query.token), 'link_not_valid');
    const { notificationId: id, who } = linked;
    const page = await show.page(sendHeaders, {
      title: 'Unsubscribed',
      body: html`<h1>You have unsubscribed</h1><p>You get no more messages of this notification.</p>`,
    });
    return change(async (tx) => {
      const { deploymentId } = found(await store.findLinked(tx, id), 'link_not_valid');
      const isOut = (await store.unsubscribe(tx, id, who)) > 0;
      const userId = 'userId' in who ? { userId: who.userId } : {};
      const entry = { id, deploymentId, ...userId, before: { subscribed: who }, after: {} };
      return { reply: page, changes: isOut ? entry : [] };
    });
  }),
];
