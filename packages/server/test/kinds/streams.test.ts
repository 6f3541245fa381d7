import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventStream } from '../../src/platform/http/streams.ts';
import { serverErrors } from '../server-log.ts';
import { type ExampleServer, startExample } from './example-server.ts';

let server: ExampleServer;
beforeAll(async () => {
  server = await startExample();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.seen.made = 0;
});

const MANY = 10_000_000;

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Sends the request and reads only the beginning of the reply. */
async function ask(path: string): Promise<{ socket: Socket; beginning: string }> {
  const { port, hostname } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Api-Key all\r\n\r\n`);
  const beginning = await new Promise<string>((resolve) =>
    socket.once('data', (data) => {
      socket.pause();
      resolve(String(data));
    }),
  );
  return { socket, beginning };
}

describe('NDJSON', () => {
  test('arrives as the items that the contract describes', async () => {
    const items = await collect(await server.client.getRows({ rows: 2 }));
    expect(items).toEqual([
      { id: 0, name: 'row 0' },
      { id: 1, name: 'row 1' },
    ]);
    expect(await collect(await server.client.getRows({ rows: 0 }))).toEqual([]);
  });

  test('with very many items arrives completely and in order', async () => {
    let next = 0;
    for await (const { id } of await server.client.getRows({ rows: 50_000 })) expect(id).toBe(next++);
    expect(next).toBe(50_000);
  });

  test('has its content type', async () => {
    const response = await server.raw('GET', '/example/rows');
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    await response.body?.cancel();
  });
});

describe('CSV', () => {
  test('has a line of column names, and quotes values if necessary', async () => {
    const table = await server.client.getTable({ rows: 2 });
    expect(table.contentType).toBe('text/csv; charset=utf-8');
    expect(await table.text()).toBe('id,"a ""name""",note\r\n0,"row, 0",""\r\n1,"row, 1",\r\n');
  });

  test('without rows has its column names', async () => {
    expect(await (await server.client.getTable({ rows: 0 })).text()).toBe('id,"a ""name""",note\r\n');
  });
});

describe('bytes', () => {
  test('can be read completely, or as a stream', async () => {
    const image = await server.client.getContent();
    expect([image.contentType, [...(await image.bytes())]]).toEqual(['image/png', [1, 2, 3]]);
    const large = await server.client.getContent({ rows: 50 });
    expect((await large.bytes()).length).toBe(50 * 64 * 1024);
  });
});

describe.each([
  ['getRows', '/example/rows'],
  ['getTable', '/example/table'],
  ['getContent', '/example/content'],
] as const)('the stream of %s', (id, path) => {
  const read = async (args: { rows: number; failAfter?: number }) => {
    const reply = await server.client[id](args);
    return 'text' in reply ? reply.text() : collect(reply);
  };

  test('that fails before its first piece is an error like any other', async () => {
    await expect(read({ rows: 5, failAfter: 0 })).rejects.toMatchObject({
      status: 404,
      code: 'role_not_found',
    });
  });

  test('that fails later breaks off, is an error for the client, and is logged', async () => {
    await expect(read({ rows: 100_000, failAfter: 5_000 })).rejects.toThrow();
    await expect.poll(serverErrors).toEqual([expect.stringContaining('broke half-way')]);
  });

  test('is not produced faster than the client reads, and ends when the client leaves', async () => {
    const { socket, beginning } = await ask(`${path}?rows=${MANY}`);
    expect(beginning).toMatch(/^HTTP\/1.1 200 /);
    // The handler fills the buffers and then stops.
    let made = -1;
    await expect
      .poll(
        () => {
          const before = made;
          made = server.seen.made;
          return before === made;
        },
        { interval: 300 },
      )
      .toBe(true);
    expect(server.seen.made).toBeLessThan(MANY / 2);
    expect([server.seen.isAborted, server.seen.isReturned]).toEqual([false, false]);
    socket.destroy();
    await expect.poll(() => [server.seen.isAborted, server.seen.isReturned]).toEqual([true, true]);
    expect(serverErrors()).toEqual([]);
  });

  test('ends when the client stops reading it', async () => {
    const abort = new AbortController();
    const reply = await server.client[id]({ rows: MANY }, { signal: abort.signal });
    if ('stream' in reply) {
      const reader = reply.stream.getReader();
      await reader.read();
      await reader.cancel();
    } else {
      for await (const _item of reply) break;
    }
    await expect.poll(() => server.seen.isReturned).toBe(true);
    expect(server.seen.made).toBeLessThan(MANY);
  });

  test('refuses HEAD', async () => {
    expect((await fetch(server.url + path, { method: 'HEAD' })).status).toBe(405);
  });
});

describe('events', () => {
  test('arrive one by one, with names and ids, while the stream is open', async () => {
    const seen = [];
    for await (const event of await server.client.getEvents()) {
      seen.push(event);
      if (event.event === 'finished') break;
    }
    expect(seen).toEqual([
      { event: 'progress', data: { done: 1 }, id: '1' },
      { event: 'progress', data: { done: 2 }, id: '2' },
      { event: 'progress', data: { done: 3 }, id: '3' },
      { event: 'finished', data: { text: 'a\nb' } },
    ]);
    await expect.poll(() => server.seen.isAborted).toBe(true);
  });

  test('the time limit of the client does not apply after the stream has begun', async () => {
    const events = await server.client.getEvents({}, { timeoutMs: 5_000 });
    expect((await events.next()).value).toMatchObject({ event: 'progress' });
    await events.return();
  });

  test('a failure of the handler breaks the connection', async () => {
    const events = await server.client.getEvents({ failAfter: 3 });
    await expect(collect(events)).rejects.toThrow('getEvents: the reply broke off');
    await expect.poll(serverErrors).toEqual([expect.stringContaining('broke half-way')]);
  });

  test.each(['unauthenticated', 'forbidden'] as const)(
    'a caller who is %s meanwhile loses the stream, but not while the check itself fails',
    async (refusal) => {
      const own = await startExample({ recheckMs: 20 });
      const events = await own.client.getEvents();
      for (let i = 0; i < 4; i++) await events.next();
      own.credentials.refusal = 'unavailable';
      const { checks } = own.credentials;
      await expect.poll(() => own.credentials.checks).toBeGreaterThan(checks + 2);
      expect(own.seen.isAborted).toBe(false);
      own.credentials.refusal = refusal;
      await expect(collect(events)).rejects.toThrow('getEvents: the reply broke off');
      await expect.poll(() => own.seen.isAborted).toBe(true);
      expect(serverErrors()).toEqual([]);
      await own.stop();
    },
  );

  test('a server that stops ends the streams in order', async () => {
    const own = await startExample();
    const events = await own.client.getEvents();
    for (let i = 0; i < 4; i++) await events.next();
    const rest = collect(events);
    await own.close();
    expect(await rest).toEqual([]);
    expect(own.seen.isAborted).toBe(true);
    await own.stop();
  });

  test('a server that stops does not wait for the next heartbeat of a stream', async () => {
    const stopping = new AbortController();
    const next = vi.fn(() => new Promise<never>(() => {}));
    const stream = eventStream(
      { [Symbol.asyncIterator]: () => ({ next }) },
      { write: () => '', stopping: stopping.signal, heartbeatMs: 24 * 3600_000 },
    );
    const rest = collect(stream);
    await expect.poll(() => next.mock.calls.length).toBe(1);
    await nextTurn();
    stopping.abort();
    expect(String(await rest)).toBe(':\n\n');
  });
});
