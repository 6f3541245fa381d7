import { generateKeyPairSync } from 'node:crypto';
import MimeNode from 'nodemailer/lib/mime-node';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Answers, answer, startMailServer, startSilentServer } from '../../../test/mail-server.ts';
import { createMail, type MailMessage } from './mail.ts';
import { type DkimKey, isMailAddress, parseMailbox, parseSmtpUrl } from './settings.ts';

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

const LIMITS = { answerMs: 20_000, messageMs: 30_000, messageBytes: 1_000_000, atOnce: 2, waitMs: 30_000 };
const FROM = { address: 'reports@example.com', name: 'Example Reports' };
const MESSAGE: MailMessage = {
  id: 'run 1 to user 2',
  to: { address: 'ann@example.org', name: 'Ann' },
  subject: 'Umsatz am Montag, 数字',
  text: 'Sales: 12',
  html: '<p>Sales: <b>12</b></p>',
};

const mailTo = (
  url: string,
  { limits = {}, dkim }: { limits?: Partial<typeof LIMITS>; dkim?: DkimKey } = {},
) => createMail({ server: parseSmtpUrl(url)!, from: FROM, ...(dkim && { dkim }) }, { ...LIMITS, ...limits });

async function serverWith(answers: Answers = {}, options?: Parameters<typeof startMailServer>[1]) {
  const server = await startMailServer(answers, options);
  running.push(server);
  return server;
}

test('a message arrives with both of its forms, its picture, and headers by which it can be recognised and unsubscribed from', async () => {
  const server = await serverWith();
  const mail = mailTo(server.url);
  const picture = {
    filename: 'd.png',
    contentType: 'image/png',
    content: Buffer.from('png'),
    cid: 'dashboard',
  };
  const listed = { listId: 'notification-7', unsubscribeUrl: 'https://example.com/unsubscribe?token=a_b' };
  await mail.send({ ...MESSAGE, ...listed, attachments: [picture] });
  await mail.send(MESSAGE);
  const [first, second] = server.messages;
  expect(first!.to).toEqual(['ann@example.org']);
  expect(first!.parsed).toMatchObject({
    subject: MESSAGE.subject,
    text: 'Sales: 12\n',
    from: FROM,
    to: [MESSAGE.to],
    attachments: [{ contentId: '<dashboard>', disposition: 'inline', mimeType: 'image/png' }],
  });
  expect(first!.raw.split('\r\n')).toEqual(
    expect.arrayContaining([
      'Auto-Submitted: auto-generated',
      'List-Unsubscribe: <https://example.com/unsubscribe?token=a_b>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      'List-ID: <notification-7.example.com>',
    ]),
  );
  expect(second!.parsed.messageId).toBe(first!.parsed.messageId);
  expect(second!.parsed.messageId).toMatch(/^<[0-9a-f]{40}@example\.com>$/);
  expect(second!.raw).not.toMatch(/List-Unsub/i);
});

test('messages that share a picture each have it whole, under their own name and type', async () => {
  const server = await serverWith();
  const mail = mailTo(server.url);
  const content = Buffer.alloc(100_000, 'the picture of a dashboard ');
  const files = [
    ['Umsätze "EU".png', 'image/png'],
    ['Umsätze "EU".png', 'image/png'],
    ['Sales.png', 'image/png'],
    ['Sales.png', 'image/jpeg'],
  ] as const;
  for (const [filename, contentType] of files)
    await mail.send({ ...MESSAGE, attachments: [{ filename, contentType, content }] });
  const all = server.messages.map(({ parsed }) => parsed.attachments[0]!);
  expect(all.map(({ filename, mimeType, disposition }) => [filename, mimeType, disposition])).toEqual(
    files.map((file) => [...file, 'attachment']),
  );
  for (const attachment of all)
    expect(content.equals(Buffer.from(attachment.content as ArrayBuffer))).toBe(true);
});

test('an attachment that could not be written is written again for the next message', async () => {
  const server = await serverWith();
  const attachments = [{ filename: 'd.png', contentType: 'image/png', content: Buffer.from('png') }];
  const message = { ...MESSAGE, attachments };
  const build = vi.spyOn(MimeNode.prototype, 'build').mockRejectedValueOnce(new Error('no memory'));
  const mail = mailTo(server.url);
  await expect(mail.send(message)).rejects.toThrow('no memory');
  build.mockRestore();
  await mail.send(message);
  expect(server.messages[0]!.parsed.attachments).toHaveLength(1);
});

test('no text of somebody else adds a header or a recipient', async () => {
  const server = await serverWith();
  const evil = 'x\r\nBcc: eve@example.net\r\n\r\nBody';
  await mailTo(server.url).send({
    ...MESSAGE,
    subject: evil,
    to: { address: 'ann@example.org', name: evil },
  });
  const { parsed, to } = server.messages[0]!;
  expect(to).toEqual(['ann@example.org']);
  expect(parsed.headers.map(({ key }) => key)).not.toContain('bcc');
  expect(parsed.text).toBe('Sales: 12\n');
  for (const address of [
    `ann@example.org${evil}`,
    'ann@example.org, eve@example.net',
    'ann',
    'a b@c',
    '<a@b>',
  ]) {
    const sent = mailTo(server.url).send({ ...MESSAGE, to: { address } });
    await expect(sent, address).rejects.toMatchObject({ isPermanent: true });
  }
  const sent = mailTo(server.url).send({ ...MESSAGE, unsubscribeUrl: 'javascript:alert(1)' });
  await expect(sent).rejects.toThrow('not an address');
  expect(server.messages).toHaveLength(1);
});

describe('a failure is', () => {
  test.each<[string, Answers, object]>([
    [
      'temporary if the server says 451 to a recipient',
      { recipient: () => answer(451, 'Try later') },
      { isPermanent: false, mayBeSent: false },
    ],
    [
      'permanent if it says 550 to a recipient',
      { recipient: () => answer(550, 'No such user') },
      { isPermanent: true, mayBeSent: false },
    ],
    [
      'temporary if it says 452 to the message',
      { message: () => answer(452, 'Disk full') },
      { isPermanent: false, mayBeSent: false },
    ],
    [
      'permanent if it says 554 to the message',
      { message: () => answer(554, 'This is spam') },
      { isPermanent: true, mayBeSent: false },
    ],
    ['temporary if it closes in the middle of the message', { closes: 'during' }, { isPermanent: false }],
    [
      'temporary if it closes before an answer, and the message may have been sent',
      { closes: 'after' },
      { isPermanent: false, mayBeSent: true },
    ],
  ])('%s', async (_, answers, expected) => {
    const server = await serverWith(answers);
    const long = { ...MESSAGE, text: 'many words '.repeat(50_000) };
    await expect(mailTo(server.url).send(answers.closes === 'during' ? long : MESSAGE)).rejects.toMatchObject(
      expected,
    );
    expect(server.messages).toEqual([]);
  });

  test('temporary if nobody listens', async () => {
    const server = await serverWith();
    await running.pop()!.stop();
    await expect(mailTo(server.url).send(MESSAGE)).rejects.toMatchObject({
      isPermanent: false,
      mayBeSent: false,
    });
  });

  test('temporary if the password is wrong, which is not in the error', async () => {
    const server = await serverWith(
      {},
      {
        disabledCommands: ['STARTTLS'],
        allowInsecureAuth: true,
        onAuth: (_auth, _session, done) => done(answer(535, 'Bad credentials')),
      },
    );
    const url = server.url.replace('//', '//user:very-secret@');
    const failure = await mailTo(url)
      .send(MESSAGE)
      .catch((error) => error);
    expect(failure).toMatchObject({ isPermanent: false, message: expect.stringContaining('535') });
    expect(JSON.stringify({ ...failure, message: failure.message, stack: failure.stack })).not.toMatch(
      /very-secret/,
    );
  });

  test('permanent if the message is too large, and then nobody is asked', async () => {
    const server = await serverWith();
    const large = { filename: 'a', contentType: 'image/png', content: Buffer.alloc(1_000_000) };
    const sent = mailTo(server.url).send({ ...MESSAGE, attachments: [large] });
    await expect(sent).rejects.toMatchObject({ isPermanent: true });
    expect(server.sessions()).toBe(0);
  });

  test.each([
    ['the time of an answer', { answerMs: 300 }],
    ['the time of the whole message', { messageMs: 300 }],
  ])('temporary if the server hangs, after %s', async (_, limits) => {
    const server = await startSilentServer();
    running.push(server);
    const failure = await mailTo(server.url, { limits })
      .send(MESSAGE)
      .catch((error) => error);
    expect(failure).toMatchObject({ isPermanent: false, mayBeSent: false });
  });

  test('temporary if the caller has no more time', async () => {
    const server = await startSilentServer();
    running.push(server);
    const caller = new AbortController();
    const sent = mailTo(server.url).send(MESSAGE, caller.signal);
    await expect.poll(server.connections).toBe(1);
    caller.abort();
    await expect(sent).rejects.toMatchObject({ isPermanent: false, message: 'sending was interrupted' });
  });
});

test('no more connections are open at once than allowed', async () => {
  const server = await startSilentServer();
  running.push(server);
  const caller = new AbortController();
  const mail = mailTo(server.url);
  const sent = Array.from({ length: 6 }, () => mail.send(MESSAGE, caller.signal).catch(() => 'ended'));
  await expect.poll(server.connections).toBe(2);
  caller.abort();
  expect(await Promise.all(sent)).toEqual(Array(6).fill('ended'));
  expect(server.connections()).toBe(2);
});

test('whoever sends thousands leaves a connection to others', async () => {
  const silent = await startSilentServer();
  running.push(silent);
  const caller = new AbortController();
  const mail = mailTo(silent.url);
  const send = (given: object) => mail.send({ ...MESSAGE, ...given }, caller.signal).catch(() => 'ended');
  const many = Array.from({ length: 6 }, () => send({ sharer: 'acme' }));
  await expect.poll(silent.connections).toBe(1);
  const one = send({});
  await expect.poll(silent.connections).toBe(2);
  caller.abort();
  await Promise.all([...many, one]);
  expect(silent.connections()).toBe(2);
});

describe('TLS', () => {
  test('is required: a server without it gets neither password nor message', async () => {
    const server = await serverWith({}, { disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    const url = `${server.url.replace('//', '//user:secret@')}?tls=required`;
    await expect(mailTo(url).send(MESSAGE)).rejects.toMatchObject({ isPermanent: false });
    expect(server.messages).toEqual([]);
  });

  test('is verified, unless told otherwise', async () => {
    const asked: (string | undefined)[] = [];
    const server = await serverWith(
      {},
      {
        onAuth: ({ username, password }, _session, done) => {
          asked.push(`${username} ${password}`);
          done(null, { user: username });
        },
      },
    );
    const url = server.url.replace('//', '//us%40er:p%2Fw@');
    await expect(mailTo(`${url}?tls=required`).send(MESSAGE)).rejects.toMatchObject({ isPermanent: false });
    expect([asked, server.messages]).toEqual([[], []]);
    await mailTo(`${url}?tls=no-verify`).send(MESSAGE);
    expect(asked).toEqual(['us@er p/w']);
    expect(server.messages).toHaveLength(1);
  });
});

test('a message is signed with the key, and the signature covers the headers to unsubscribe', async () => {
  const server = await serverWith();
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const mail = mailTo(server.url, { dkim: { selector: 's1', privateKey } });
  await mail.send({ ...MESSAGE, unsubscribeUrl: 'https://example.com/u' });
  const { value } = server.messages[0]!.parsed.headers.find(({ key }) => key === 'dkim-signature')!;
  const signature = value.replaceAll(/\s+/g, '').toLowerCase();
  expect(signature).toContain('d=example.com;');
  expect(signature).toContain('s=s1;');
  const [, signed = ''] = /;h=([^;]+);/.exec(signature)!;
  expect(signed.split(':')).toEqual(
    expect.arrayContaining(['from', 'to', 'subject', 'list-unsubscribe', 'list-unsubscribe-post']),
  );
});

test.each([
  ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, isSecure: false, tls: 'required' }],
  ['smtps://mail.example.com', { port: 465, isSecure: true, tls: 'required' }],
  ['smtp://u:p%40@[::1]:25', { host: '::1', port: 25, tls: 'off', user: 'u', password: 'p@' }],
  ['smtp://127.0.0.1?tls=required', { tls: 'required' }],
  ['smtp://relay?tls=off', { tls: 'off' }],
  ['smtps://127.0.0.1?tls=off', undefined],
  ['smtp://relay?tls=maybe', undefined],
  ['smtp://relay?ssl=true', undefined],
  ['smtp://relay/path', undefined],
  ['smtp://a:%zz@relay', undefined],
  ['https://relay', undefined],
  ['relay:25', undefined],
])('the address %s of a server', (url, expected) => {
  if (expected) expect(parseSmtpUrl(url)).toMatchObject(expected);
  else expect(parseSmtpUrl(url)).toBeUndefined();
});

test('a sender is an address, with or without a name', () => {
  expect(parseMailbox('a@example.com')).toEqual({ address: 'a@example.com' });
  expect(parseMailbox('Ann & Co <a@example.com>')).toEqual({ address: 'a@example.com', name: 'Ann & Co' });
  expect(parseMailbox('"Ann, Co" <a@example.com>')).toEqual({ address: 'a@example.com', name: 'Ann, Co' });
  for (const bad of ['Ann', 'Ann <a>', 'a@example.com\nBcc: b@example.com', '<a@b> <c@d>']) {
    expect(parseMailbox(bad), bad).toBeUndefined();
  }
  expect(isMailAddress(`${'a'.repeat(65)}@example.com`)).toBe(false);
});
