/** How the server handles malformed and hostile requests, and what it shows to operators. */
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkReply } from '../../../test/checked-fetch.ts';
import { ADMIN_KEY, createOwnWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({
    env: { ORIEL_METRICS_TOKEN: 'a-token-for-the-metrics', ORIEL_TRUST_PROXY: '127.0.0.2' },
  });
});
afterAll(() => world.stop());

const stillServes = async () => expect((await world.raw('GET', '/api/v1/users/me')).status).toBe(200);

const post = (body: string | Uint8Array, contentType: string | null = 'application/json') =>
  world.raw('POST', '/api/v1/users', { body, headers: contentType ? { 'content-type': contentType } : {} });

describe('a bad body is answered with the proper 4xx, and the next request is served', () => {
  const user = (extra: string) => `{"username":"u","email":"u@example.com",${extra}}`;
  test.each<[string, string | Uint8Array, number, string, string?]>([
    ['cut JSON', '{"username":', 400, 'malformed_json'],
    ['text', 'hello', 400, 'malformed_json'],
    ['an empty body', '', 400, 'invalid_request'],
    ['an array', '[]', 400, 'invalid_request'],
    ['null', 'null', 400, 'invalid_request'],
    ['a number', '12', 400, 'invalid_request'],
    ['JSON as text/plain', '{}', 415, 'unsupported_media_type', 'text/plain'],
    ['a form', 'username=u', 415, 'unsupported_media_type', 'application/x-www-form-urlencoded'],
    ['a made-up type', '{}', 415, 'unsupported_media_type', 'application/json-ish'],
    [
      'bytes that are not UTF-8',
      new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
      400,
      'invalid_text',
    ],
    ['nesting to depth 200,000', '['.repeat(200_000), 400, 'json_too_deep'],
    ['nesting inside of an object', `{"a":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`, 400, 'json_too_deep'],
    ['__proto__', user('"__proto__":{"isAdmin":true}'), 400, 'invalid_request'],
    ['constructor.prototype', user('"constructor":{"prototype":{"isAdmin":true}}'), 400, 'malformed_json'],
    ['an escaped __proto__', user('"\\u005f_proto__":{"isAdmin":true}'), 400, 'invalid_request'],
    ['a NUL', user('"firstName":"a\\u0000b"'), 400, 'invalid_text'],
    ['half a surrogate pair', user('"firstName":"a\\ud800b"'), 400, 'invalid_text'],
    ['a field given twice', user('"email":"v@example.com"'), 400, 'duplicate_key'],
    ['a field given twice, once with escapes', user('"\\u0065mail":"v@example.com"'), 400, 'duplicate_key'],
    ['an integer that would be rounded', user('"firstName":9007199254740993'), 400, 'integer_too_large'],
  ])('%s', async (_, body, status, code, contentType) => {
    const response = await post(body, contentType);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code });
    await stillServes();
  });

  test('a compressed body', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const response = await world.raw('POST', '/api/v1/users', { body: gzipSync('{}'), headers });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ message: 'The body must not be compressed.' });
    await stillServes();
  });

  test('brackets inside of strings do not count as depth', async () => {
    const response = await post(
      JSON.stringify({ username: '['.repeat(200), email: 'no', firstName: '\\"[[' }),
    );
    expect(await response.json()).toMatchObject({ issues: [{ path: 'email' }] });
  });

  test('all problems are reported at once, each with its path', async () => {
    const response = await post(JSON.stringify({ username: '', email: 5, roles: ['a', 7], surprise: 1 }));
    const { issues, message } = (await response.json()) as { issues: { path: string }[]; message: string };
    expect(issues.map(({ path }) => path).sort()).toEqual([
      'email',
      'roles[1]',
      'surprise',
      'username',
      'username',
    ]);
    expect(message).toContain('(and 4 more)');
  });

  test('a huge invalid body gives one error, not a million', async () => {
    const roles = Array.from({ length: 30_000 }, (_, i) => i);
    const response = await post(JSON.stringify({ username: 'u', email: 'u@example.com', roles }));
    const { issues } = (await response.json()) as { issues: unknown[] };
    expect([response.status, issues.length]).toEqual([400, 1]);
  });
});

describe('clients that are slow or silent are disconnected, with the same error body', () => {
  let impatient: World;
  beforeAll(async () => {
    impatient = await createOwnWorld({ timeouts: { headersMs: 400, requestMs: 800, idleMs: 1200 } });
  });
  afterAll(() => impatient.stop());

  // On a busy machine, this request can be too slow as well.
  const stillServes = () =>
    expect.poll(async () => (await impatient.raw('GET', '/api/v1/users/me')).status).toBe(200);

  test('a client that never finishes its headers', async () => {
    const socket = await open(impatient);
    socket.write('GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\n');
    expect(await errorIn(socket)).toMatchObject({ statusCode: 408, code: 'request_timeout' });
    await stillServes();
  });

  test('a client that never finishes its body', async () => {
    const socket = await open(impatient);
    socket.write(
      `${head('POST', '/api/v1/users')}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"user`,
    );
    expect(await readAll(socket)).toMatch(/^(HTTP\/1\.1 408 |$)/);
    await stillServes();
  });

  test('a client that sends nothing', async () => {
    expect(await readAll(await open(impatient))).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });
});

describe('clients that do not use HTTP as they should get the same error body', () => {
  test('a client that uses another protocol', async () => {
    const socket = await open();
    socket.write('EHLO example.com\r\n\r\n');
    expect(await errorIn(socket)).toMatchObject({ statusCode: 400, code: 'invalid_request' });
  });

  test('a client that sends no Host header', async () => {
    const socket = await open();
    socket.write('GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(await errorIn(socket)).toMatchObject({ statusCode: 400, code: 'invalid_url' });
  });

  test('a client with an unknown Expect header is still served', async () => {
    const socket = await open();
    socket.write(`${head('GET', '/healthz')}Expect: a-miracle\r\nConnection: close\r\n\r\n`);
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 .*x-content-type-options: nosniff/is);
  });

  test('a client with very large headers', async () => {
    const socket = await open();
    socket.write(`${head('GET', '/api/v1/users/me')}X-Padding: ${'x'.repeat(64 * 1024)}\r\n\r\n`);
    expect(await errorIn(socket)).toMatchObject({ statusCode: 431, code: 'headers_too_large' });
  });
});

describe('unknown addresses', () => {
  test.each([
    ['GET', '/nothing'],
    ['GET', '/api/v1/nothing'],
    ['GET', '/api/v1/users/me/'],
    ['GET', '/api/v1/users/me/more'],
    ['GET', '/API/V1/users/me'],
  ])('%s %s is a 404', async (method, path) => {
    const response = await world.raw(method, path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'route_not_found' });
  });

  test('a malformed address is a 400', async () => {
    const socket = await open();
    socket.write(`${head('GET', '/api/v1/api-keys/%zz')}Connection: close\r\n\r\n`);
    expect(await errorIn(socket)).toMatchObject({ statusCode: 400, code: 'invalid_url' });
  });
});

describe('request ids', () => {
  test('each reply has its own', async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await world.raw('GET', '/healthz')).headers.get('x-request-id')),
    );
    expect(new Set(ids).size).toBe(3);
  });

  test("the caller's own id is kept if it is safe", async () => {
    const idFor = async (id: string) =>
      (await world.raw('GET', '/healthz', { headers: { 'x-request-id': id } })).headers.get('x-request-id');
    expect(await idFor('order-4711.retry_2')).toBe('order-4711.retry_2');
    expect(await idFor('x'.repeat(300))).not.toContain('xxxx');
    expect(await idFor('a"b, c=d{}')).not.toContain('"');
  });
});

describe('operators', () => {
  test('health and readiness', async () => {
    expect(await (await world.raw('GET', '/healthz', { apiKey: null })).json()).toEqual({ status: 'ok' });
    expect(await (await world.raw('GET', '/readyz', { apiKey: null })).json()).toEqual({ status: 'ready' });
  });

  test('metrics are for direct requests from loopback and for callers with the token, not for requests through a proxy', async () => {
    const ask = (headers: Record<string, string>) => world.raw('GET', '/metrics', { apiKey: null, headers });
    const local = await ask({});
    expect(local.status).toBe(200);
    const text = await local.text();
    expect(text).toContain('oriel_http_request_duration_seconds_count{operation="getMe",status="200"}');
    expect(text).toContain('oriel_db_connections');
    const added = [
      'x-original-forwarded-for',
      'x-cluster-client-ip',
      'fastly-client-ip',
      'x-envoy-external-address',
    ];
    for (const name of ['x-forwarded-for', 'x-forwarded-proto', 'x-real-ip', 'via', 'forwarded', ...added])
      expect([name, (await ask({ [name]: '203.0.113.9' })).status]).toEqual([name, 404]);
    for (const [host, status] of [
      ['analytics.example.com', 404],
      ['127.0.0.1.example.com', 404],
      ['localhost:4000', 200],
      ['[::1]:4000', 200],
    ]) {
      const socket = await open();
      socket.write(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect([host, (await readAll(socket)).split(' ')[1]]).toEqual([host, String(status)]);
    }
    const withToken = { 'x-forwarded-for': '203.0.113.9', authorization: 'Bearer a-token-for-the-metrics' };
    expect((await ask(withToken)).status).toBe(200);
    expect((await ask({ ...withToken, authorization: 'Bearer another-token' })).status).toBe(404);
  });

  test('the reference loads everything from this server', async () => {
    const page = await world.raw('GET', '/docs', { apiKey: null });
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const html = await page.text();
    const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, asset]) => asset!);
    expect(assets.filter((asset) => !asset.startsWith('/docs/') && !asset.startsWith('data:'))).toEqual([]);
    for (const asset of assets.filter((path) => path.startsWith('/'))) {
      expect((await world.raw('GET', asset, { apiKey: null })).status).toBe(200);
    }
  });

  test('the OpenAPI document is public', async () => {
    expect(await world.client().getSpec()).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/' }] });
  });
});

const head = (method: string, path: string) =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Api-Key ${ADMIN_KEY}\r\n`;

async function open({ url } = world): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return socket;
}

/** Returns everything that is sent until the server closes the connection. */
function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('utf8').on('data', (part) => {
      text += part;
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(text));
  });
}

/** Returns the error body of a reply, after checking it like any other reply. */
async function errorIn(socket: Socket): Promise<unknown> {
  const answer = await readAll(socket);
  const [top, body] = answer.split('\r\n\r\n') as [string, string];
  const [statusLine, ...headers] = top.split('\r\n');
  const status = Number(statusLine!.split(' ')[1]);
  const head = { status, headers: new Headers(headers.map((line) => line.split(': ') as [string, string])) };
  checkReply('GET', '/not/in/the/contract', head, body);
  return JSON.parse(body);
}
