/**
 * Tells the owner of a notification that a run failed, or that a recipient gets nothing any more: at most once a day.
 */
import { may } from '../../platform/auth/access.ts';
import type { JobKind } from '../../platform/jobs/jobs.ts';
import { letterOf } from '../../platform/mail/letter.ts';
import { type Mail, MailError } from '../../platform/mail/mail.ts';
import { findPermissions, toPermissions } from '../access/index.ts';
import type { RunPayload } from './clock.ts';
import * as store from './runs.store.ts';

const SHOWN_MAX = 10;

export const createOwnerJob = (mail: Mail): JobKind<RunPayload> => ({
  name: 'notifications.tell-owner',
  lane: 'mails',
  async run({ runId }, { db, log, signal }) {
    const run = await store.findRun(db, runId);
    const owner = run?.userId == null ? undefined : await store.findUser(db, run.userId);
    if (!run || !owner?.email || owner.isDeactivated) return;
    const permissions = await findPermissions(db, run.userId!);
    const isAdmin = permissions !== undefined && may(toPermissions(permissions), 'All');
    const reader = { userId: run.userId!, isAdmin };
    const reasons = await store.listReasons(db, run.id, reader, SHOWN_MAX);
    const shown = await store.findShownRun(db, run.notificationId, run.id, reader);
    // The outcome of others would tell the owner what those see.
    if (shown?.hidesOthers && shown.state === 'done' && !reasons.length) return;
    const title = `Trouble with the notification ${run.name ?? run.workbookName}`;
    const letter = letterOf({
      title,
      lines: [
        ...(shown?.reason ? [shown.reason] : ['Not everybody got it.']),
        ...reasons.map(({ reason, count }) => `${count} × ${reason}`),
      ],
      foot: ['The list of its runs says who is concerned. You get this at most once a day.'],
    });
    try {
      await mail.send(
        { id: `trouble ${run.id}`, to: { address: owner.email }, subject: title, ...letter },
        signal,
      );
    } catch (error) {
      if (!(error instanceof MailError) || !error.isPermanent) throw error;
      log.warn(
        { userId: run.userId, reason: error.message },
        'the owner of a notification could not be told',
      );
    }
  },
});
