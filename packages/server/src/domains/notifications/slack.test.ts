/** Copies in channels of Slack, with a server that answers as Slack does. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOutbound, rulesOf } from '../../platform/outbound/outbound.ts';
import type { Copy } from './channels.ts';
import type { DeliveryRow } from './runs.store.ts';
import { createSlack } from './slack.ts';

const calls: { path: string; authorization: string | undefined; body: string }[] = [];
let answers: Record<string, { status?: number; body: object }> = {};
let url: string;
const server = createServer(async (incoming, response) => {
  let body = '';
  for await (const part of incoming) body += part;
  const path = incoming.url!.slice(1);
  calls.push({ path, authorization: incoming.headers.authorization, body });
  const { status = 200, body: answer } = answers[path] ?? { body: { ok: true } };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const send = async (rendering?: Copy['rendering']) => {
  calls.length = 0;
  const outbound = createOutbound(rulesOf({ allowPrivate: true }));
  const slack = createSlack({ outbound, token: 'xoxb-secret', url });
  const copy = { title: 'Sales <EU>', rendering, link: 'https://oriel.example/d' } as Copy;
  const { signal } = new AbortController();
  await slack.send(copy, { address: 'C0123456789' } as DeliveryRow, {} as never, signal);
};

test('a message names the dashboard, and a picture is uploaded without the token', async () => {
  await send();
  expect(calls).toMatchObject([{ path: 'chat.postMessage', authorization: 'Bearer xoxb-secret' }]);
  expect(Object.fromEntries(new URLSearchParams(calls[0]!.body))).toEqual({
    channel: 'C0123456789',
    text: '*Sales &lt;EU&gt;*\nhttps://oriel.example/d',
  });
  answers = {
    'files.getUploadURLExternal': { body: { ok: true, upload_url: `${url}/upload`, file_id: 'F1' } },
  };
  await send({ bytes: Buffer.from('picture'), contentType: 'image/png' } as never);
  expect(calls.map(({ path }) => path)).toEqual([
    'files.getUploadURLExternal',
    'upload',
    'files.completeUploadExternal',
  ]);
  expect(calls[1]).toMatchObject({ authorization: undefined, body: 'picture' });
  expect(new URLSearchParams(calls[2]!.body).get('channel_id')).toBe('C0123456789');
});

test.each([
  [{ body: { ok: false, error: 'channel_not_found' } }, true],
  [{ body: { ok: false, error: 'ratelimited' } }, false],
  [{ status: 429, body: {} }, false],
  [{ status: 503, body: {} }, false],
])('%o is permanent: %s', async (answer, isPermanent) => {
  answers = { 'chat.postMessage': answer };
  await expect(send()).rejects.toMatchObject({ isPermanent, mayBeSent: false });
});
