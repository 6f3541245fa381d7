/** Compressed replies, as they are on the wire: `fetch` would undo the compression. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { fastify } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExampleServer, startExample } from '../../../test/kinds/example-server.ts';
import { createShop, SHOP_MODEL } from '../../../test/shops.ts';
import { ADMIN_KEY, createWorld, unique, type World } from '../../../test/world.ts';
import { createCompression } from './compression.ts';
import { encodingFor } from './encodings.ts';

let world: World;
let deploymentId: number;
let examples: ExampleServer;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = await createShop(world, SHOP_MODEL);
  // Enough rows for an answer that is compressed in a thread.
  const orders = Array.from({ length: 3000 }, (_, i) => `${i},1,done,${i}.50,2024-01-10 08:00:00`);
  await world.writeFiles(deploymentId, {
    'orders.csv': ['id,customer_id,status,amount,ordered_at', ...orders, ''].join('\n'),
  });
  examples = await startExample();
});
afterAll(async () => {
  await examples?.stop();
  await world?.stop();
});

interface Wire {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

function ask(
  address: string,
  headers: Record<string, string>,
  { method = 'GET', body }: { method?: string; body?: object } = {},
): Promise<Wire> {
  return new Promise((resolve, reject) => {
    const json = body && { 'content-type': 'application/json' };
    const sent = request(address, { method, headers: { ...json, ...headers } }, (message) => {
      const pieces: Buffer[] = [];
      message.on('data', (piece: Buffer) => void pieces.push(piece));
      message.on('error', reject);
      message.on('end', () =>
        resolve({ status: message.statusCode!, headers: message.headers, body: Buffer.concat(pieces) }),
      );
    });
    sent.on('error', reject).end(body && JSON.stringify(body));
  });
}

const key = { authorization: `Api-Key ${ADMIN_KEY}` };
const accepting = (encodings: string) => ({ ...key, 'accept-encoding': encodings });
const decoded = ({ headers, body }: Wire) => {
  const encoding = headers['content-encoding'];
  return (encoding === 'br' ? brotliDecompressSync(body) : encoding ? gunzipSync(body) : body).toString();
};
const loadAddress = () => `${world.url}/query/api/v1/deployments/${deploymentId}/load`;

test.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP, BR', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br; q=0.000 , gzip ; q=0', undefined],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['br;q=0, *;q=0.1', 'gzip'],
  ['gzip, *;q=0', 'gzip'],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['brotli, gzipped', undefined],
  ['gzip;q=2, br;q=nonsense', undefined],
])('Accept-Encoding %j means %s', (accepted, encoding) => {
  expect(encodingFor(accepted)).toBe(encoding);
});

test.each(['br', 'gzip'])('an answer comes as %s, with a tenth of its bytes', async (encoding) => {
  const query = { dimensions: ['orders.id', 'orders.status'], measures: ['orders.amount'] };
  const post = { method: 'POST', body: { query } };
  const plain = await ask(loadAddress(), key, post);
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.headers.vary).toBe('Origin, Accept-Encoding');
  const short = await ask(loadAddress(), accepting(encoding), post);
  expect(short.headers).toMatchObject({ 'content-encoding': encoding, vary: 'Origin, Accept-Encoding' });
  expect(decoded(short)).toBe(plain.body.toString());
  expect(plain.body.length).toBeGreaterThan(100_000);
  expect(short.body.length).toBeLessThan(plain.body.length / 10);
});

test('a small answer and an error stay as they are', async () => {
  for (const measures of [['orders.count'], ['no.such']]) {
    const reply = await ask(loadAddress(), accepting('br'), {
      method: 'POST',
      body: { query: { measures } },
    });
    expect(reply.headers['content-encoding']).toBeUndefined();
    expect(Object.keys(JSON.parse(reply.body.toString()))).toContain(
      measures[0] === 'no.such' ? 'error' : 'data',
    );
  }
});

test('HEAD has the headers of GET', async () => {
  for (let i = 0; i < 5; i++) await world.person();
  const address = `${world.url}/api/v1/users`;
  const [get, head] = [
    await ask(address, accepting('gzip')),
    await ask(address, accepting('gzip'), { method: 'HEAD' }),
  ];
  expect(get.headers['content-encoding']).toBe('gzip');
  const shown = ({ headers }: Wire) =>
    ['content-encoding', 'content-length', 'vary'].map((name) => headers[name]);
  expect(shown(head)).toEqual(shown(get));
  expect(head.body.length).toBe(0);
});

test('each encoding of a resource has a tag of its own, and all of them name its state', async () => {
  const { id: reportId } = await world.admin.createReport({
    deploymentId,
    body: {
      name: unique('Report'),
      jsonQuery: JSON.stringify({ measures: ['orders.count'] }),
      description: 'x'.repeat(1000),
    },
  });
  const address = `${world.url}/api/v1/deployments/${deploymentId}/reports/${reportId}`;
  const plain = await ask(address, key);
  const short = await ask(address, accepting('br'));
  expect(short.headers['content-encoding']).toBe('br');
  expect(short.headers.etag).toBe(plain.headers.etag!.replace(/"$/, '-br"'));
  for (const { headers } of [plain, short]) {
    const again = await ask(address, { ...accepting('br'), 'if-none-match': headers.etag! });
    expect([again.status, again.headers.etag, again.body.length]).toEqual([304, headers.etag, 0]);
  }
  const change = (description: string, etag: string) =>
    ask(address, { ...key, 'if-match': etag }, { method: 'PUT', body: { description } });
  expect((await change('new', short.headers.etag!)).status).toBe(200);
  expect((await change('newer', short.headers.etag!)).status).toBe(412);
});

test('secrets and pages are never compressed', async () => {
  await world.admin.setEnvVariables({
    deploymentId,
    body: { env_variables: [{ name: 'LONG', value: 'secret '.repeat(500) }] },
  });
  for (const path of [`/api/v1/deployments/${deploymentId}/env-vars`, '/sign-in']) {
    const reply = await ask(world.url + path, accepting('br, gzip'));
    expect(reply.body.length).toBeGreaterThan(1024);
    expect([path, reply.headers['content-encoding']]).toEqual([path, undefined]);
  }
});

test('streams of rows are compressed, and cut off if they fail; events are sent as they are', async () => {
  const headers = { authorization: 'Api-Key all', 'accept-encoding': 'br' };
  for (const path of ['rows', 'table']) {
    const plain = await ask(`${examples.url}/example/${path}?rows=2000`, { authorization: 'Api-Key all' });
    const short = await ask(`${examples.url}/example/${path}?rows=2000`, headers);
    expect(short.headers['content-encoding']).toBe('br');
    expect(decoded(short)).toBe(plain.body.toString());
    expect(short.body.length).toBeLessThan(plain.body.length / 3);
    // A stream that fails before anything of it was sent is an error, which is not compressed.
    const early = await ask(`${examples.url}/example/${path}?rows=2000&failAfter=1000`, headers).catch(
      () => null,
    );
    if (early) {
      expect([early.status, early.headers['content-encoding']]).toEqual([500, undefined]);
      expect(JSON.parse(early.body.toString())).toMatchObject({ code: 'internal_error' });
    }
    // Half a stream never looks complete.
    await expect(ask(`${examples.url}/example/${path}?rows=100000&failAfter=90000`, headers)).rejects.toThrow(
      'aborted',
    );
  }
  const events = await fetch(`${examples.url}/example/events`, { headers });
  expect(events.headers.get('content-encoding')).toBeNull();
  await events.body!.cancel();
});

test('when too much is to be compressed at once, replies are sent as they are', async () => {
  const compress = createCompression({ atOnce: 1, waiting: 1, streams: 0 });
  const app = fastify();
  app.addHook('onSend', async (request, reply, payload) => compress(request, reply, payload));
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => `row ${i}`));
  app.get('/', (_request, reply) => reply.type('application/json').send(text));
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => ask(address, { 'accept-encoding': 'gzip' })),
    );
    const encodings = new Set(replies.map(({ headers }) => headers['content-encoding']));
    expect(encodings).toEqual(new Set(['gzip', undefined]));
    for (const reply of replies) expect(decoded(reply)).toBe(text);
    // Later ones find a free place again.
    expect((await ask(address, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBe('gzip');
  } finally {
    await app.close();
  }
});
