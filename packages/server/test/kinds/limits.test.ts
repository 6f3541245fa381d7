/** Tests the rate limits and time limits. The size limits are tested with each kind of body. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serverErrors } from '../server-log.ts';
import { SLOW_MS } from './example-contract.ts';
import { type ExampleServer, startExample } from './example-server.ts';

let server: ExampleServer;
beforeAll(async () => {
  server = await startExample();
});
afterAll(() => server.stop());

test('each credential has its own number of calls, and a 429 says when to try again', async () => {
  const statusWith = async (key: string) => (await server.raw('GET', '/example/rarely', { key })).status;
  expect([await statusWith('all'), await statusWith('all'), await statusWith('all')]).toEqual([
    204, 204, 429,
  ]);
  expect([await statusWith('other'), await statusWith('other'), await statusWith('other')]).toEqual([
    204, 204, 429,
  ]);
  const refused = await server.raw('GET', '/example/rarely');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
  expect(await refused.json()).toMatchObject({
    code: 'rate_limited',
    message: expect.stringContaining('2 times'),
  });
});

test('calls without a credential count by address, even with a bad body, and beyond the limit no body is read', async () => {
  const statusOf = async (body: string) =>
    (
      await server.raw('POST', '/example/rarely', {
        key: null,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body,
      })
    ).status;
  expect([await statusOf('name=a'), await statusOf('wrong=a'), await statusOf('wrong=a')]).toEqual([
    204, 400, 429,
  ]);
});

test('a handler that is fast enough replies normally', async () => {
  await server.client.getSlowly({ ms: 0 });
  const before = await server.auditedIds();
  await server.client.changeSlowly({ ms: 1 });
  expect(await server.auditedIds()).toEqual([...before, '1']);
});

test('if a handler takes too long, the reply is a 504 and its signal is aborted', async () => {
  await expect(server.client.getSlowly({ ms: 2 * SLOW_MS })).rejects.toMatchObject({
    status: 504,
    code: 'timed_out',
  });
  expect(server.seen.abortReason).toMatchObject({ code: 'timed_out', retryAfterSeconds: 1 });
});

test('a handler that was stopped changes nothing, not even later', async () => {
  await expect(server.client.changeSlowly({ ms: SLOW_MS + 500 })).rejects.toMatchObject({
    code: 'timed_out',
  });
  await sleep(1000);
  expect(await server.auditedIds()).not.toContain(`${SLOW_MS + 500}`);
  expect(serverErrors()).toEqual([]);
});
