/** The mail with a dashboard, as it arrives. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MailServer, startMailServer } from '../../../test/mail-server.ts';
import { createMail } from '../../platform/mail/mail.ts';
import { parseSmtpUrl } from '../../platform/mail/settings.ts';
import { composeDashboardMail, type DashboardMail } from './dashboard-mail.ts';

let mails: MailServer;
beforeAll(async () => {
  mails = await startMailServer();
});
afterAll(() => mails.stop());

const PNG = Buffer.from('89504e47', 'hex');
const MAIL: DashboardMail = {
  rendering: {
    bytes: PNG,
    contentType: 'image/png',
    width: 1200,
    height: 600,
    title: 'Sales & <b>more</b>',
    inForce: [{ title: 'Region', text: 'EU' }],
    asOf: 'Nov 18, 2026, 9:00 AM (Europe/Berlin)',
    figures: [
      { title: 'Revenue', text: '$7.9M', change: { text: '▲ +41%', note: 'from $5.6M', isGood: true } },
      { title: '<i>Orders</i>', text: '5,604' },
    ],
    table: {
      title: 'Top products',
      columns: [
        { title: 'Product', align: 'left' },
        { title: 'Revenue', align: 'right' },
      ],
      rows: [['<script>alert(1)</script>', '$12']],
      more: 15,
    },
  },
  locale: 'en',
  link: 'https://example.com/d/1?a=1&b=2',
  unsubscribeUrl: 'https://example.com/stop?token=x',
  schedule: 'Every Monday at 9:00',
};

async function sent(mail: DashboardMail) {
  const server = parseSmtpUrl(mails.url)!;
  const from = { address: 'reports@example.com' };
  const { unsubscribeUrl } = mail;
  const id = `test ${mails.messages.length}`;
  await createMail({ server, from }).send({
    id,
    to: { address: 'ann@example.org' },
    ...composeDashboardMail(mail),
    ...(unsubscribeUrl ? { unsubscribeUrl } : {}),
  });
  return mails.messages.at(-1)!.parsed;
}

test('it has the figures and the table as text, in both forms, beside the picture', async () => {
  const { subject, text = '', html = '', attachments } = await sent(MAIL);
  expect(subject).toBe('Sales & <b>more</b>');
  const figures = [
    '$7.9M',
    '▲ +41%',
    'from $5.6M',
    '5,604',
    'Top products',
    '$12',
    'and 15 more',
    'Every Monday at 9:00',
  ];
  for (const form of [text, html]) for (const each of figures) expect(form).toContain(each);
  expect(text).toContain('Open the dashboard: https://example.com/d/1?a=1&b=2');
  expect(text).toContain('Stop these mails: https://example.com/stop?token=x');
  expect(attachments).toMatchObject([
    { contentId: '<dashboard>', disposition: 'inline', mimeType: 'image/png' },
  ]);
  expect(html).toMatch(
    /<img src="cid:dashboard" alt="Sales &amp; &lt;b&gt;more&lt;\/b&gt;" width="\d+" height="\d+"/,
  );
  // Texts of the dashboard are texts, and nothing is loaded from elsewhere.
  expect(html).not.toMatch(/<script|<i>|<b>more|src="http|url\(/);
  expect(html).toContain('prefers-color-scheme:dark');
});

test('a PDF is attached, and there are no links where none are known', async () => {
  const { link: _link, unsubscribeUrl: _unsubscribeUrl, ...rest } = MAIL;
  const rendering = { ...MAIL.rendering, contentType: 'application/pdf' as const, title: 'Q3/売上' };
  const { html = '', text = '', attachments } = await sent({ ...rest, rendering, locale: 'ja-JP' });
  expect(attachments).toMatchObject([{ filename: 'Q3 売上.pdf', disposition: 'attachment' }]);
  expect(html).toContain('PDF で添付');
  expect(html + text).not.toMatch(/<a |https?:/);
});
