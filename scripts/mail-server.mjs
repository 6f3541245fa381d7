/**
 * A mail server to try mails with: it accepts every message, delivers none, and writes each into a folder, as it came and as a
 * page to look at. `npm run demo:mail`, and ORIEL_SMTP_URL=smtp://127.0.0.1:1025 for the server.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

const [port = '1025', folder = '.oriel-mail'] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
let count = 0;

/** Pictures are in the page itself. */
const pageOf = ({ html = '', text = '', attachments }) =>
  attachments.reduce(
    (page, { contentId = '', mimeType, content }) => {
      const data = `data:${mimeType};base64,${Buffer.from(content).toString('base64')}`;
      return page.replaceAll(`cid:${contentId.slice(1, -1)}`, data);
    },
    html || `<pre>${text.replaceAll('<', '&lt;')}</pre>`,
  );

const server = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  async onData(stream, { envelope }, callback) {
    const raw = await buffer(stream);
    const mail = await PostalMime.parse(raw);
    const file = join(folder, String(++count).padStart(3, '0'));
    await writeFile(`${file}.eml`, raw);
    await writeFile(`${file}.html`, pageOf(mail));
    const to = envelope.rcptTo.map(({ address }) => address).join(', ');
    console.log(`${to}: ${mail.subject}  (${file}.html)`);
    callback();
  },
});
server.listen(Number(port), '127.0.0.1', () =>
  console.log(`Mail to smtp://127.0.0.1:${port} is written to ${folder}. Stop it with Ctrl-C.`),
);
