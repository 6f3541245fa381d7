import { connect, createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { checkReply } from '../../../test/checked-fetch.ts';
import { reservePort } from './reserve-port.ts';

const reserved: Awaited<ReturnType<typeof reservePort>>[] = [];
afterEach(async () => {
  for (const { release } of reserved.splice(0)) await release();
});

async function reserve() {
  const made = await reservePort('127.0.0.1', 0);
  reserved.push(made);
  return { ...made, url: `http://127.0.0.1:${made.port}` };
}

test('while the server starts, it is alive but not ready, and every operation is a 503 at once', async () => {
  const { url } = await reserve();
  const alive = await fetch(`${url}/healthz`);
  expect([alive.status, await alive.json()]).toEqual([200, { status: 'ok' }]);
  const asked: [method: string, path: string, body?: string][] = [
    ['GET', '/readyz'],
    ['GET', '/metrics'],
    ['GET', '/api/v1/users/me'],
    ['POST', '/api/v1/embed/generate-session', '{}'],
    ['GET', '/healthzz'],
  ];
  for (const [method, path, body] of asked) {
    const response = await fetch(url + path, { method, body });
    checkReply(method, path, response, await response.clone().text());
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ code: 'unavailable', message: 'The server is starting.' });
  }
});

test('the port is free as soon as it is released, even if clients are still connected', async () => {
  const { port, release, url } = await reserve();
  await fetch(`${url}/readyz`);
  const silent = connect(port, '127.0.0.1').on('error', () => {});
  await new Promise((resolve) => silent.once('connect', resolve));
  await release();
  const next = createServer();
  await new Promise<void>((resolve, reject) => next.once('error', reject).listen(port, '127.0.0.1', resolve));
  next.close();
});
