/** How long an export waits for its reader. In a world of its own, which closes idle connections soon. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_KEY, createOwnWorld, type World } from '../../../test/world.ts';

const LONG_MS = 60_000;

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({ timeouts: { headersMs: LONG_MS, requestMs: LONG_MS, idleMs: 5000 } });
});
afterAll(() => world.stop());

test('readers that do not read lose their exports, and others can make theirs', async () => {
  await world.server.db.pool.query(
    `insert into audit_log (operation, resource_type, resource_id, after)
     select 'large', 'test', n::text, jsonb_build_object('text', repeat('x', 15000)) from generate_series(1, 2000) n`,
  );
  const sockets: Socket[] = [];
  const ask = async () => {
    const { hostname, port } = new URL(world.url);
    const socket = connect(Number(port), hostname);
    // The socket sees that the server has ended the connection only when it reads again.
    socket.on('error', () => {});
    sockets.push(socket);
    socket.write(
      `GET /api/v1/audit-log/export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ADMIN_KEY}\r\n\r\n`,
    );
    await new Promise<void>((resolve) =>
      socket.once('data', () => {
        socket.pause();
        resolve();
      }),
    );
  };
  const other = async () => (await world.raw('GET', '/api/v1/audit-log/export?operation=none')).status;
  // On a busy machine the first one may lose its export before the last one has it.
  const otherOfMany = async () => {
    await Promise.all(Array.from({ length: 4 }, ask));
    return other();
  };
  await expect.poll(otherOfMany).toBe(503);
  // Each caller may ask 60 times a minute, and is refused by a 429 after that.
  await expect.poll(other, { interval: 1500 }).toBe(200);
  for (const socket of sockets) socket.destroy();
});
