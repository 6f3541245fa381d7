/** Mails invitations and resets, if the settings say how mail is sent. */
import type { JobKind } from '../../platform/jobs/jobs.ts';
import { type Letter, letterOf } from '../../platform/mail/letter.ts';
import { type Mail, MailError } from '../../platform/mail/mail.ts';
import type { Box, BoxedColumn } from '../../platform/secrets/box.ts';
import * as store from './store.ts';

/** The secret is stored only until it is mailed. Then nobody but the recipient has it. */
export const MAIL_SECRET: BoxedColumn = {
  table: 'password_links',
  column: 'mail_secret',
  keyColumn: 'user_id',
  holds: 'links that wait to be mailed',
};

export interface LinkMailer {
  mail: Mail;
  box: Box;
}

export function mailLinkJob(
  mailing: LinkMailer | undefined,
  urlOf: (kind: store.LinkKind, userId: number, secret: string) => string,
): JobKind<{ userId: number }> {
  return {
    name: 'password-links.mail',
    lane: 'mails',
    async run({ userId }, { db, log, signal }) {
      if (!mailing) throw new Error('ORIEL_SMTP_URL is set on another server, but not on this one');
      const { mail, box } = mailing;
      const link = await store.findLinkToMail(db, userId);
      // It was mailed, used or replaced, or has expired.
      if (!link) return;
      const url = urlOf(link.kind, userId, box.open(String(userId), link.mailSecret).toString());
      const letter = LETTERS[link.kind](link, { url, name: mail.from.name ?? 'Oriel' });
      const id = `password link of ${userId} made ${link.createdAt}`;
      try {
        await mail.send(
          { id, to: { address: link.email }, subject: letter.title, ...letterOf(letter) },
          signal,
        );
      } catch (error) {
        if (!(error instanceof MailError) || !error.isPermanent) throw error;
        // The address is not logged: it is personal, and the user's page has it.
        log.warn(
          { userId, reason: error.message },
          'the mail with a link was refused, and is not sent again',
        );
      }
      await store.noteMailed(db, userId, link.mailSecret);
    },
  };
}

type LinkRecipient = Pick<store.LinkToMail, 'email' | 'firstName' | 'expiresAt'>;

const LETTERS: Record<
  store.LinkKind,
  (person: LinkRecipient, about: { url: string; name: string }) => Letter
> = {
  invitation: ({ email, firstName, expiresAt }, { url, name }) => ({
    title: `Your invitation to ${name}`,
    lines: [
      ...(firstName ? [`Hello ${firstName},`] : []),
      `you have been invited to ${name}. Choose a password to finish your account, ${email}.`,
    ],
    action: { label: 'Set your password', url },
    foot: [worksUntil(expiresAt), 'If you did not expect this, you can ignore this message.'],
  }),
  reset: ({ email, expiresAt }, { url, name }) => ({
    title: `Set a new password for ${name}`,
    lines: [`Somebody, probably you, asked for a new password for the account ${email}.`],
    action: { label: 'Set a new password', url },
    foot: [
      worksUntil(expiresAt),
      'If it was not you, you can ignore this message: your password stays as it is.',
    ],
  }),
};

/** The letter to a person who asked for a new password, and signs in with a provider. */
export const letterWithoutPassword = (name: string, signInUrl: string): Letter => ({
  title: `Your account at ${name} has no password`,
  lines: [
    'Somebody, probably you, asked for a new password. Your account has none: you sign in with the account of your organisation.',
  ],
  action: { label: 'Go to sign-in', url: signInUrl },
  foot: ['If it was not you, you can ignore this message.'],
});

const TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});
const worksUntil = (at: string) => `The link works once, until ${TIME.format(new Date(at))} UTC.`;
