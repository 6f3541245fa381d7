/** The viewers of the benchmark `day`, for a server that only notes who they are. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { visitor } from '../bench/day/visitor.ts';
import type { Oriel } from '../bench/harness/oriel.ts';

test('every viewer is new, also on the next day', async () => {
  const seen: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.url === '/api/v1/embed/generate-session') seen.push(JSON.parse(body).externalId);
    response.end('{"sessionId":"1.x","token":"t"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const days = [1, 2].map(() => visitor({ servers: [{ url, headers: {} } as Oriel], customers: 10 }));
  try {
    for (const { visit } of days) for (const n of [1, 2]) await visit(n);
    expect(seen).toHaveLength(4);
    expect(new Set(seen).size).toBe(4);
    expect(days.map(({ latencies }) => latencies.get('query')!.length)).toEqual([4, 4]);
  } finally {
    for (const { agent } of days) agent.destroy();
    server.close();
  }
});
