/** How connections end when the server stops. Other limits on connections are tested in bodies.test.ts. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startExample } from '../../../test/kinds/example-server.ts';

/** Longer than a test may take. */
const LONG_MS = 240_000;

test('a request that never arrives completely does not delay a stop for long', async () => {
  const server = await startExample({
    timeouts: { headersMs: LONG_MS, requestMs: LONG_MS, idleMs: LONG_MS, stopGraceMs: 100 },
  });
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  const closed = once(socket, 'close');
  socket.write(
    `POST /example/form HTTP/1.1\r\nHost: localhost\r\nAuthorization: Api-Key all\r\n` +
      'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\nna',
  );
  await expect.poll(() => received).toMatch(/^HTTP\/1\.1 100 /);
  await server.stop();
  await closed;
  expect(server.seen.handled).toEqual([]);
});
