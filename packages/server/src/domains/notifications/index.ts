import type { JobKind } from '../../platform/jobs/jobs.ts';
import type { Module, Platform } from '../../platform/module.ts';
import type { Show } from '../pages/index.ts';
import { fillLinkTemplate } from '../tenant-settings/index.ts';
import type { Events } from '../webhooks/index.ts';
import type { Outbox } from './channels.ts';
import { cleanup } from './cleanup.store.ts';
import { createClock } from './clock.ts';
import { createLinks } from './links.ts';
import { createMailChannel } from './mail.ts';
import { createOwnerJob } from './owner.ts';
import { type NotificationOptions, notificationRoutes } from './routes.ts';
import { createRunJob, type RunOptions } from './run-job.ts';
import { runRoutes } from './run-routes.ts';
import { createSlack } from './slack.ts';
import { createRowWarmer } from './warming.ts';

export { demoNotification } from './demo.ts';

type Options = Omit<NotificationOptions, 'clock'> &
  Pick<RunOptions, 'queries' | 'renderings' | 'events'> & {
    events: Events;
    show: Show;
    /** The token of a bot, if there is one. */
    slackToken: string | undefined;
  };

export function notifications(platform: Platform, options: Options): Module {
  const { outbound, mail, keysFor, publicUrl } = platform;
  const { events, slackToken } = options;
  const links = createLinks({ keys: keysFor('notification links'), publicUrl });
  const webhooks: Outbox = {
    add: (tx, { run, link }, { address, messageId }) =>
      events.recordFor(tx, Number(address), {
        type: 'notification.due',
        resource: `notification:${run.notificationId}`,
        data: {
          id: String(run.notificationId),
          deploymentId: run.deploymentId,
          dashboardId: run.dashboardId,
          dashboardPublicId: run.publicId,
          runId: run.id,
          deliveryId: messageId,
          dueAt: run.dueAt,
          link,
        },
      }),
  };
  const tellOwner = mail && createOwnerJob(mail);
  const runJob = createRunJob({
    ...options,
    tellOwner,
    channels: {
      webhooks,
      mail: mail && createMailChannel(mail),
      slack: slackToken ? createSlack({ outbound, token: slackToken }) : undefined,
    },
    linkOf: (run, { embedTenant }, { notificationLinkTemplate }) =>
      embedTenant === null
        ? `${publicUrl}/embed/dashboard/${run.publicId}`
        : notificationLinkTemplate &&
          fillLinkTemplate(notificationLinkTemplate, {
            dashboardPublicId: run.publicId,
            dashboardId: run.dashboardId,
            deploymentId: run.deploymentId,
            embedTenantName: embedTenant,
          }),
    unsubscribeUrlOf({ notificationId, isPreview }, { userId, address, type }) {
      if (isPreview || type === 'SLACK' || type === 'WEBHOOK') return null;
      return links.urlOf({ notificationId, who: userId === null ? { address: address! } : { userId } });
    },
  });
  const clock = createClock(runJob);
  const warming = createRowWarmer(platform, options);
  return {
    routes: [
      ...notificationRoutes({ ...options, clock }),
      ...runRoutes({ runJob, links, show: options.show }),
    ],
    jobs: [clock.job, runJob, ...(tellOwner ? [tellOwner] : [])] as JobKind[],
    schedules: clock.upkeep,
    cleanup,
    started: warming.start,
    stop: warming.stop,
  };
}
