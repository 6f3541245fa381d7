import { isDeepStrictEqual } from 'node:util';
import { operations } from '@oriel/contract';
import type { Caller } from '../../platform/auth/actor.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { pageById } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { maySeeNames } from '../access/index.ts';
import type { ReadPublished } from '../dashboards/index.ts';
import type { Provision } from '../embed-sessions/index.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import type { Clock } from './clock.ts';
import {
  audited,
  lockForChange,
  lookerOf,
  requireControls,
  requireNotification,
  requireRoom,
  requireTarget,
  seesRecipients,
  toReply,
  toWanted,
} from './notifications.ts';
import * as recipientStore from './recipients.store.ts';
import {
  addOwn,
  addResolved,
  getsOwnersView,
  isReachable,
  requireForm,
  resolve,
  showsOwnView,
} from './recipients.ts';
import { requireInterval } from './schedule.ts';
import * as store from './store.ts';

const LIST = 'notifications by id';
const FIRST_MAX = 200;

export interface NotificationOptions {
  tenantSettings: TenantSettings;
  provision: Provision;
  /** The embed tenant of the account itself. */
  tenant: string;
  readPublished: ReadPublished;
  clock: Pick<Clock, 'schedule'>;
}

export function notificationRoutes(options: NotificationOptions) {
  const { tenantSettings, provision, tenant, readPublished, clock } = options;
  const show = async (db: Queryable, actor: Caller, looker: store.NotificationViewer, id: number) => {
    const row = await requireNotification(db, looker, id);
    return { row, reply: toReply(row, actor, await tenantSettings.current()) };
  };

  return [
    handle(operations.getNotifications, async ({ actor, db, cursors }, { params, query }) => {
      const looker = lookerOf(actor, params.deploymentId);
      const settings = await tenantSettings.current();
      const asked = { ...query, first: Math.min(query.first ?? 50, FIRST_MAX) };
      const filter = {
        ...query,
        recipientEmbedTenantName:
          query.recipientEmbedTenantName ?? (query.recipientExternalId == null ? null : tenant),
      };
      const sees = seesRecipients(actor, params.deploymentId);
      const page = await pageById(cursors, LIST, asked, (by) =>
        store.listNotifications(db, looker, filter, by, sees),
      );
      return { ...page, items: page.items.map((row) => toReply(row, actor, settings)) };
    }),

    handle(operations.createNotification, async ({ actor, db, change }, { params, body }) => {
      const looker = lookerOf(actor, params.deploymentId);
      const dashboard = await requireTarget(db, looker, body);
      const settings = await tenantSettings.current();
      const wanted = toWanted(body, undefined, settings.embedding.timezone ?? 'UTC');
      await requireControls(db, readPublished, dashboard.id, wanted);
      return change(async (tx) => {
        const embedTenant = await requireRoom(tx, looker, dashboard.id, settings);
        if (embedTenant !== null) requireInterval(wanted);
        const place = { dashboardId: dashboard.id, userId: actor.userId, embedTenant };
        const id = await store.insertNotification(tx, place, wanted);
        await clock.schedule(tx, { ...params, sharer: embedTenant, notificationId: id }, wanted.nextDueAt);
        const { row, reply } = await show(tx, actor, looker, id);
        return { reply, changes: { id, before: null, after: audited(row) } };
      });
    }),

    handle(operations.getNotification, async ({ actor, db }, { params }) => {
      const { reply } = await show(db, actor, lookerOf(actor, params.deploymentId), params.id);
      return reply;
    }),

    handle(operations.updateNotification, ({ actor, change }, { params, body }) =>
      change(async (tx) => {
        const looker = lookerOf(actor, params.deploymentId);
        const before = await lockForChange(tx, looker, params.id);
        const wanted = toWanted(body, before, before.timezone);
        if (before.embedTenant !== null && wanted.isEnabled) requireInterval(wanted);
        if (changesContent(before, wanted) && !showsOwnView(actor, before))
          await requireNoOwnersView(tx, before.id);
        if (body.filters || body.timeGrains || body.condition)
          await requireControls(tx, readPublished, before.dashboardId, wanted);
        await store.updateNotification(tx, before.id, wanted);
        // An owner who only switches a schedule on or off need not have looked at what it shows.
        const isOnlySwitched = Object.keys(body).join() === 'isEnabled';
        if (!isOnlySwitched && showsOwnView(actor, before)) await store.updateAgreedVersion(tx, before.id);
        if (wanted.nextDueAt !== before.nextDueAt)
          await clock.schedule(
            tx,
            {
              deploymentId: params.deploymentId,
              sharer: before.embedTenant,
              notificationId: before.id,
            },
            wanted.nextDueAt,
          );
        const { row, reply } = await show(tx, actor, looker, before.id);
        return { reply, changes: { id: before.id, before: audited(before), after: audited(row) } };
      }),
    ),

    handle(operations.deleteNotification, ({ actor, change }, { params }) =>
      change(async (tx) => {
        const before = await lockForChange(tx, lookerOf(actor, params.deploymentId), params.id);
        await store.deleteNotification(tx, before.id);
        return { reply: undefined, changes: { id: before.id, before: audited(before), after: null } };
      }),
    ),

    handle(operations.getRecipients, async ({ actor, db, cursors }, { params, query }) => {
      const looker = lookerOf(actor, params.deploymentId);
      const { id, mayChange } = await requireNotification(db, looker, params.id);
      const onlyOwn = !(mayChange && seesRecipients(actor, params.deploymentId));
      return pageById(cursors, `recipients of ${id}`, query, (page) =>
        recipientStore.listRecipients(db, id, readerOf(actor), { ...page, onlyOwn }),
      );
    }),

    handle(operations.addRecipients, ({ actor, origin, change }, { params, body }) => {
      requireForm(body.recipients);
      return change(async (tx) => {
        const looker = lookerOf(actor, params.deploymentId);
        const notification = await lockForChange(tx, looker, params.id);
        const settings = await tenantSettings.current();
        const caller = { actor, origin };
        const context = { caller, looker, notification, settings, provision, tenant };
        const resolved = await resolve(tx, context, body.recipients);
        const outcome = await addResolved(tx, notification.id, resolved);
        if (resolved.some(getsOwnersView)) await store.updateAgreedVersion(tx, notification.id);
        const shown = (ids: number[]) => recipientStore.listRecipientsById(tx, ids, readerOf(actor));
        const labels = await recipientStore.listLabels(tx, [...outcome.created, ...outcome.updated]);
        const changes = { id: notification.id, before: {}, after: { addedRecipients: labels } };
        return {
          reply: {
            createdRecipients: await shown(outcome.created),
            updatedRecipients: await shown(outcome.updated),
            unchangedRecipients: await shown(outcome.unchanged),
          },
          changes: labels.length ? changes : [],
        };
      });
    }),

    handle(operations.removeRecipients, ({ actor, change }, { params, body }) =>
      change(async (tx) => {
        const looker = lookerOf(actor, params.deploymentId);
        const { id } = await lockForChange(tx, looker, params.id);
        const removed = await recipientStore.deleteRecipients(
          tx,
          id,
          body.recipients.map(({ type, id: target, embedTenantName }) => ({
            type,
            id: typeof target === 'number' ? target : idIn(type, target),
            text: typeof target === 'string' ? target : null,
            embedTenantName: embedTenantName ?? looker.embed?.embedTenant ?? tenant,
          })),
        );
        const labels = removed.map(({ label }) => label);
        const changes = { id, before: { removedRecipients: labels }, after: {} };
        return { reply: undefined, changes: labels.length ? changes : [] };
      }),
    ),

    handle(operations.subscribeToNotification, ({ actor, change }, { params }) =>
      change(async (tx) => {
        const looker = lookerOf(actor, params.deploymentId);
        await store.lockNotification(tx, params.id);
        const { id, allowSubscribe, mayChange } = await requireNotification(tx, looker, params.id);
        if (looker.embed && !allowSubscribe && !mayChange) throw new ApiError('notification_not_found');
        const [own] = await recipientStore.emailsOf(tx, [actor.userId]);
        if (own?.email && !isReachable(await tenantSettings.current(), own.email, true))
          throw new ApiError('recipient_not_allowed');
        const isNew = await addOwn(tx, id, actor);
        const isBack = await recipientStore.setUnsubscribed(tx, id, actor.userId, false);
        const { reply } = await show(tx, actor, looker, id);
        const changes = { id, before: {}, after: { subscribed: actor.userId } };
        return { reply, changes: isNew || isBack ? changes : [] };
      }),
    ),

    handle(operations.unsubscribeFromNotification, ({ actor, change }, { params }) =>
      change(async (tx) => {
        const looker = lookerOf(actor, params.deploymentId);
        await store.lockNotification(tx, params.id);
        const { id, isSubscribed } = await requireNotification(tx, looker, params.id);
        // A recipient by a group has no row yet.
        if (isSubscribed) await addOwn(tx, id, actor);
        await recipientStore.setUnsubscribed(tx, id, actor.userId, true);
        const reply = { ...(await show(tx, actor, looker, id)).reply, isSubscribed: false };
        const changes = { id, before: { subscribed: actor.userId }, after: {} };
        return { reply, changes: isSubscribed ? changes : [] };
      }),
    ),

    handle(operations.duplicateNotification, ({ actor, change }, { params }) =>
      change(async (tx) => {
        const looker = lookerOf(actor, params.deploymentId);
        const source = await lockForChange(tx, looker, params.id);
        const settings = await tenantSettings.current();
        const embedTenant = await requireRoom(tx, looker, source.dashboardId, settings);
        const place = { dashboardId: source.dashboardId, userId: actor.userId, embedTenant };
        const copy = { ...source, isEnabled: false, nextDueAt: null };
        const id = await store.insertNotification(tx, place, copy);
        await recipientStore.copyRecipients(tx, source.id, id);
        const { row, reply } = await show(tx, actor, looker, id);
        return { reply, changes: { id, before: null, after: audited(row) } };
      }),
    ),
  ];
}

/** Whether other rows would be sent. */
const changesContent = (before: store.NotificationFields, wanted: store.NotificationFields) =>
  (['filters', 'timeGrains', 'condition'] as const).some(
    (field) => !isDeepStrictEqual(before[field], wanted[field]),
  );

/** Throws a 403 if a recipient gets the view of the owner: others must not choose what that shows. */
async function requireNoOwnersView(tx: Tx, id: number) {
  if (await recipientStore.hasOwnersView(tx, id))
    throw new ApiError('forbidden', {
      message:
        'Channels or addresses without an account get the view of the owner, so only the owner or an admin can change what is sent.',
    });
}

const readerOf = (actor: Caller) => ({ userId: actor.userId, seesNames: maySeeNames(actor) });

/** Clients may send numbers as text. The external id of an embed user is a text of its own. */
const idIn = (type: string, text: string) =>
  type !== 'EMBED_USER' && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
