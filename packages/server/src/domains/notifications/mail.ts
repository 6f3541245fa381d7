/** Sends copies by mail: one message a reader, with the figures as text beside the picture. */
import { letterOf } from '../../platform/mail/letter.ts';
import { type Mail, MailError } from '../../platform/mail/mail.ts';
import { type Channel, type Copy, NotSent } from './channels.ts';

const UNSUBSCRIBE = 'You get this because you are a recipient of this notification. To leave it, open';

export const createMailChannel = (mail: Mail): Channel => ({
  isDrawn: true,
  async send(copy, { messageId }, { email }, signal) {
    const { run, title, rendering, unsubscribeUrl } = copy;
    const { html, text } = messageOf(copy);
    const isPicture = rendering?.contentType === 'image/png';
    try {
      await mail.send(
        {
          id: `notification ${messageId}`,
          to: { address: email! },
          subject: title,
          text,
          html,
          listId: `notification-${run.notificationId}`,
          ...(unsubscribeUrl ? { unsubscribeUrl } : {}),
          attachments: rendering
            ? [
                {
                  filename: isPicture ? 'dashboard.png' : 'dashboard.pdf',
                  contentType: rendering.contentType,
                  content: rendering.bytes,
                },
              ]
            : [],
        },
        signal,
      );
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      throw new NotSent(error.message, error);
    }
  },
});

function messageOf({ title, rendering, link, unsubscribeUrl }: Copy) {
  return letterOf({
    title,
    lines: (rendering?.figures ?? []).map((figure) => `${figure.title}: ${figure.value}`),
    ...(link ? { action: { label: 'Open the dashboard', url: link } } : {}),
    foot: unsubscribeUrl ? [`${UNSUBSCRIBE} ${unsubscribeUrl}`] : [],
  });
}
