/** Sends copies by mail: one message a reader, with the figures as text beside the picture. */
import { type Mail, MailError } from '../../platform/mail/mail.ts';
import { composeDashboardMail } from '../renderings/index.ts';
import { type Channel, NotSentError } from './channels.ts';
import { wordsFor } from './schedule.ts';

export const createMailChannel = (mail: Mail): Channel => ({
  isDrawn: true,
  async send({ run, title, rendering, link, unsubscribeUrl }, { messageId }, { email }, signal) {
    const { locale } = rendering!;
    const message = composeDashboardMail({
      rendering: rendering!,
      locale,
      subject: title,
      link: link ?? undefined,
      unsubscribeUrl: unsubscribeUrl ?? undefined,
      schedule: run.isPreview ? undefined : `${wordsFor(run, locale)} (${run.timezone})`,
    });
    try {
      await mail.send(
        {
          id: `notification ${messageId}`,
          to: { address: email! },
          sharer: `${run.deploymentId} ${run.embedTenant ?? ''}`,
          listId: `notification-${run.notificationId}`,
          ...(unsubscribeUrl ? { unsubscribeUrl } : {}),
          ...message,
        },
        signal,
      );
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      throw new NotSentError(error.message, error);
    }
  },
});
