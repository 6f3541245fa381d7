/** Limits on bodies: their size, which callers may send one, and what happens to clients that continue to send. */
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { allOperations, bodyLimitOf, hasBody, operations } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf } from '../../../test/samples.ts';
import { serverErrors } from '../../../test/server-log.ts';
import { ADMIN_KEY, createOwnWorld, type World } from '../../../test/world.ts';

const MB = 1024 * 1024;
const BODIES_MAX_BYTES = 200 * MB;

/** Long enough for a busy machine. */
const PATIENT = { headersMs: 60_000, requestMs: 60_000, idleMs: 60_000 };

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({
    env: { ORIEL_MAX_CONNECTIONS: '10' },
    timeouts: { ...PATIENT, publicBodyMs: 60_000 },
  });
});
afterAll(() => world.stop());

const EXCHANGE = '/api/v1/embed/session/token';
const json = (body: string) => ({ headers: { 'content-type': 'application/json' }, body });

describe('each operation has its own limit', () => {
  test.each([
    ['postTokenBySessionId', '4 KB'],
    ['createUser', '256 KB'],
    ['generateSession', '4 MB'],
  ] as const)('%s accepts %s', async (id, limit) => {
    const op = operations[id];
    const send = (bytes: number) => world.raw(op.method, op.path, json(`{"x":"${'x'.repeat(bytes - 8)}"}`));
    const refused = await send(bodyLimitOf(op as never) + 1);
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({
      code: 'body_too_large',
      message: expect.stringContaining(limit),
    });
    expect((await send(bodyLimitOf(op as never))).status).toBe(400);
  });

  test('unknown callers can send at most 16 KB, and an operation without a body reads none', () => {
    for (const op of allOperations) {
      // A webhook is signed, and files of dbt and of data go to the disk as they arrive.
      if (op.id === 'receiveGitHostWebhook') expect(bodyLimitOf(op)).toBe(256 * 1024);
      else if (op.id === 'uploadModelSyncManifest') expect(bodyLimitOf(op)).toBeLessThan(129 * MB);
      else if (op.id === 'uploadDataFile') expect(bodyLimitOf(op)).toBe(1024 * MB);
      else if (!hasBody(op)) expect(bodyLimitOf(op)).toBe(0);
      else if (op.auth === 'public') expect(bodyLimitOf(op)).toBeLessThanOrEqual(16 * 1024);
      else expect(bodyLimitOf(op)).toBeLessThanOrEqual(8 * MB);
    }
  });

  test('a body that the operation does not have is ignored', async () => {
    const { id } = await world.admin.createUserGroup({ body: { name: 'short-lived' } });
    const path = `/api/v1/user-groups/${id}`;
    expect(
      (await world.raw('DELETE', path, { headers: { 'content-type': 'text/plain' }, body: '{' })).status,
    ).toBe(204);
  });
});

describe('a caller who may not call is refused before they have sent their body', () => {
  const announce = (method: string, path: string, credential: string) =>
    answerTo(
      `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${credential}Content-Type: application/json\r\n` +
        'Content-Length: 1000\r\n\r\n{',
    );
  const withKey = (key: string) => `Authorization: Api-Key ${key}\r\n`;

  test('without a credential, for every operation that needs one and has a body', async () => {
    for (const op of allOperations.filter((each) => hasBody(each) && each.auth !== 'public'))
      expect([op.id, await announce(op.method, addressOf(op), '')]).toEqual([op.id, 401]);
  });

  test('without the permission, or outside the scope of the key', async () => {
    const nobody = await world.person({ roles: [] });
    expect(await announce('POST', '/api/v1/users', withKey(nobody.apiKey))).toBe(403);
    const { id } = await world.deployment();
    const scoped = await world.person({ roles: ['Admin'], deploymentIds: [id] });
    expect(await announce('POST', `/api/v1/deployments/${id + 1}/folders`, withKey(scoped.apiKey))).toBe(403);
    expect(await announce('POST', `/api/v1/deployments/x/folders`, withKey(scoped.apiKey))).toBe(400);
  });

  test('with an embed token that may not use the operation', async () => {
    const { id: deploymentId } = await world.deployment();
    const { token } = await world.embedded({ deploymentId, externalId: 'ann' });
    const bearer = `Authorization: Bearer ${token}\r\n`;
    expect(await announce('POST', '/api/v1/users', bearer)).toBe(403);
    expect(await announce('POST', `/api/v1/deployments/${deploymentId}/folders`, bearer)).toBe(403);
  });

  test('at an address that does not exist', async () => {
    expect(await announce('POST', '/api/v1/nothing', '')).toBe(404);
    expect(await announce('POST', '/api/v1/users/me', '')).toBe(405);
  });
});

describe('a client that continues to send can read its 413', () => {
  const headers = { authorization: `Api-Key ${ADMIN_KEY}`, 'content-type': 'application/json' };
  const chunk = Buffer.alloc(64 * 1024, ' ');

  test('fetch, with a length', async () => {
    const body = Buffer.alloc(20 * MB, ' ');
    const response = await fetch(`${world.url}/api/v1/users`, { method: 'POST', headers, body });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'body_too_large' });
  });

  test('fetch, in chunks', async () => {
    const chunks = (function* () {
      for (let sent = 0; sent < 20 * MB; sent += chunk.length) yield chunk;
    })();
    const body = Readable.toWeb(Readable.from(chunks)) as ReadableStream;
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    const response = await fetch(`${world.url}/api/v1/users`, init);
    expect(response.status).toBe(413);
  });

  test.each([
    ['with a length', { 'content-length': 20 * MB }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('a client that reads only after it has sent everything, %s', async (_, more) => {
    const request = httpRequest(`${world.url}/api/v1/users`, {
      method: 'POST',
      headers: { ...headers, ...more },
    });
    const answer = once(request, 'response');
    answer.catch(() => {});
    for (let sent = 0; sent < 20 * MB; sent += chunk.length) await written(request, chunk);
    request.end();
    const [response] = (await answer) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    response.resume();
  });

  test('but it cannot send without a limit', async () => {
    const socket = await open();
    socket.write(
      `POST /api/v1/users HTTP/1.1\r\nHost: localhost\r\nAuthorization: Api-Key ${ADMIN_KEY}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${BODIES_MAX_BYTES}\r\n\r\n`,
    );
    let sent = 0;
    const part = Buffer.alloc(MB, ' ');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    while (sent < BODIES_MAX_BYTES && !socket.destroyed) {
      sent += part.length;
      if (socket.write(part)) continue;
      await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))]);
    }
    expect(sent).toBeLessThan(BODIES_MAX_BYTES);
    socket.destroy();
  });
});

test('a body that an unknown caller never finishes is refused soon', async () => {
  const impatient = await createOwnWorld({ timeouts: { ...PATIENT, publicBodyMs: 300 } });
  const status = await answerTo(
    `POST ${EXCHANGE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"se`,
    impatient,
  );
  await impatient.stop();
  expect(status).toBe(408);
});

test('unfinished large bodies use a limited share of memory, and small ones are still accepted', async () => {
  const { id: deploymentId } = await world.deployment();
  const workbook = await world.admin.createWorkbook({ deploymentId, body: { name: 'w' } });
  const path = `/api/v1/deployments/${deploymentId}/workbooks/${workbook.id}/dashboard`;
  const half = Buffer.concat([
    Buffer.from(
      `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Api-Key ${ADMIN_KEY}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${8 * MB}\r\n\r\n`,
    ),
    Buffer.alloc(7 * MB, ' '),
  ]);
  const sockets = await Promise.all(Array.from({ length: 6 }, () => open()));
  const answers = sockets.map((socket) => firstAnswer(socket).then((status) => ({ socket, status })));
  for (const socket of sockets) socket.write(half);
  // One caller may use 32 MB, so the fifth or sixth body exceeds it.
  const first = await Promise.race(answers);
  expect(first.status).toBe(503);
  expect((await world.raw('POST', '/api/v1/users', json('{}'))).status).toBe(400);
  for (const socket of sockets) socket.destroy();
  const whole = json(JSON.stringify({ dashboardDraft: { settings: { x: 'x'.repeat(500_000) } } }));
  await expect.poll(async () => (await world.raw('PUT', path, whole)).status).toBe(200);
});

describe('the number of connections is limited', () => {
  test('a new connection replaces the one that has been idle for longest', async () => {
    const sockets = [];
    for (let i = 0; i < 10; i++) sockets.push(await open());
    const closed = Promise.race(sockets.map((socket, i) => once(socket, 'close').then(() => i)));
    const late = await open();
    late.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await firstAnswer(late)).toBe(200);
    expect(await closed).toBe(0);
    for (const socket of [...sockets, late]) socket.destroy();
  });

  test('if none is idle, the one that has been sending its body for longest is closed, and that is not logged as an error', async () => {
    const sending: Socket[] = [];
    while (sending.length < 10) {
      const socket = await open();
      socket.write(
        `POST /api/v1/users HTTP/1.1\r\nHost: localhost\r\nAuthorization: Api-Key ${ADMIN_KEY}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n{',
      );
      // The connection may be refused while connections of other tests are still being closed.
      if ((await firstAnswer(socket)) === 100) sending.push(socket);
    }
    const closed = Promise.race(sending.map((socket, i) => once(socket, 'close').then(() => i)));
    const late = await open();
    late.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await firstAnswer(late)).toBe(200);
    expect(await closed).toBe(0);
    for (const socket of [...sending, late]) socket.destroy();
    expect(serverErrors()).toEqual([]);
  });
});

async function open({ url } = world): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.on('error', () => {});
  return socket;
}

/** Returns the status of the first reply, while the connection stays open, or undefined if it ends without one. */
const firstAnswer = (socket: Socket) =>
  new Promise<number | undefined>((resolve) => {
    socket.once('data', (data) => resolve(Number(String(data).split(' ')[1])));
    socket.once('close', () => resolve(undefined));
  });

async function answerTo(text: string, at = world) {
  const socket = await open(at);
  socket.write(text);
  const status = await firstAnswer(socket);
  socket.destroy();
  return status;
}

const written = (request: ClientRequest, chunk: Buffer) =>
  new Promise<void>((resolve, reject) =>
    request.write(chunk, (error) => (error ? reject(error) : resolve())),
  );
