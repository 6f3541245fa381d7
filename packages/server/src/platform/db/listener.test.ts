import { setImmediate as immediately } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { startListening } from '../../../test/listening.ts';
import { startMutableProxy } from '../../../test/postgres-proxy.ts';

const CHANNEL = 'oriel_test_heartbeat';
const listen = (connectionString: string) => startListening(connectionString, CHANNEL);

test('a busy process does not think that its connection is broken', async () => {
  const listener = await listen(inject('postgresUrl'));
  let interruptions = 0;
  listener.on(CHANNEL, () => interruptions++);
  for (let i = 0; i < 8; i++) {
    const end = performance.now() + 400;
    while (performance.now() < end);
    // Timers that are due run before the answer of the database is read.
    await immediately();
  }
  expect(listener.isListening).toBe(true);
  expect(interruptions).toBe(0);
  await listener.end();
});

test('a connection that stops answering is detected and replaced', async () => {
  const proxy = await startMutableProxy(inject('postgresUrl'));
  const listener = await listen(proxy.url);
  expect(listener.isListening).toBe(true);
  proxy.mute(true);
  await expect.poll(() => listener.isListening).toBe(false);
  proxy.mute(false);
  await expect.poll(() => listener.isListening).toBe(true);
  await listener.end();
  await proxy.close();
});
