import type { JobKind } from '../../platform/jobs/jobs.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import type { Module, Platform } from '../../platform/module.ts';
import { deleteOldDeliveries, disableOverfull } from './deliveries.store.ts';
import { createEvents, type Events } from './events.ts';
import { webhookRoutes } from './routes.ts';
import { createWebhookSecrets } from './secrets.ts';
import { createSender } from './sender.ts';

export type { Event, Events } from './events.ts';
export { WEBHOOK_SECRET_COLUMN } from './secrets.ts';
export { forgetWebhookSecrets } from './store.ts';

const KEEP_DAYS = 7;
const BATCH = 5000;
/** More deliveries than this do not wait for a receiver. */
const WAITING_MAX = 100_000;

const cleanUp: JobKind = {
  name: 'webhooks.clean-up',
  async run(_payload, { db, signal }) {
    const notice = `More than ${WAITING_MAX} deliveries wait, so nothing more is sent.`;
    await disableOverfull(db, WAITING_MAX, notice);
    while (!signal.aborted && (await deleteOldDeliveries(db, KEEP_DAYS, BATCH)) === BATCH);
  },
};
const schedule: Schedule = { name: cleanUp.name, cron: '41 * * * *', kind: cleanUp };

/** For the module, and for domains with events of their own. */
export interface Webhooks {
  events: Events;
  module: Module;
}

export function createWebhooks(platform: Platform, { allowPrivate }: { allowPrivate: boolean }): Webhooks {
  const secrets = createWebhookSecrets(platform);
  const sender = createSender({ outbound: platform.outbound, secrets });
  return {
    events: createEvents(platform, sender),
    module: {
      routes: webhookRoutes({ cursors: platform.cursors, secrets, sender, allowPrivate }),
      jobs: [sender],
      schedules: [schedule],
    },
  };
}
