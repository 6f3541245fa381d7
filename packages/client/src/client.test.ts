import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterEach, expect, test } from 'vitest';
import { createOrielClient, OrielError } from './index.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Plays servers and proxies in states that a test cannot produce with the real server. */
async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a safe request is tried again after 429 and 503, as the server asks', async () => {
  const statuses = [503, 429, 200];
  const baseUrl = await serve((_request, response) => {
    const status = statuses.shift()!;
    response.writeHead(status, { 'retry-after': '0', 'content-type': 'application/json' });
    response.end(status === 200 ? '{"data":[]}' : '{}');
  });
  expect(await createOrielClient({ baseUrl, apiKey: 'sk-x' }).listRegions()).toEqual({ data: [] });
  expect(statuses).toEqual([]);
});

test('the client stops after the given number of retries', async () => {
  let requests = 0;
  const baseUrl = await serve((_request, response) => {
    requests++;
    response.writeHead(503, { 'retry-after': '0' }).end('{"code":"unavailable","message":"no"}');
  });
  const attempt = createOrielClient({ baseUrl, retries: 2 }).getMe();
  await expect(attempt).rejects.toMatchObject({ status: 503, code: 'unavailable' });
  expect(requests).toBe(3);
});

test('a request that changes something is never sent twice', async () => {
  let requests = 0;
  const baseUrl = await serve((_request, response) => {
    requests++;
    response.writeHead(503).end('{"code":"unavailable","message":"no"}');
  });
  const client = createOrielClient({ baseUrl });
  await expect(client.createApiKey({ body: { name: 'x' } })).rejects.toBeInstanceOf(OrielError);
  await expect(client.deleteApiKey({ id: 1 })).rejects.toBeInstanceOf(OrielError);
  expect(requests).toBe(2);
});

test('parameters, query and body go where they belong', async () => {
  const seen: unknown[] = [];
  const baseUrl = await serve(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    seen.push([request.method, request.url, request.headers.authorization, body]);
    response.end('{}');
  });
  const client = createOrielClient({
    baseUrl: `${baseUrl}/`,
    getHeaders: async () => ({ authorization: 'Bearer t' }),
  });
  await client.getDeployments({ creationStep: ['demo', 'ready'], first: 2, limit: null });
  await client.updateApiKey({ id: 7, body: { name: 'ä' } });
  await client.getReports({ deploymentId: 1, first: 50, after: undefined });
  await client.generateSession({ body: { deploymentId: 1, externalId: 'ada', groups: undefined } });
  expect(seen).toEqual([
    ['GET', '/api/v1/deployments?creationStep=demo&creationStep=ready&first=2', 'Bearer t', ''],
    ['PUT', '/api/v1/api-keys/7', 'Bearer t', '{"name":"ä"}'],
    ['GET', '/api/v1/deployments/1/reports?first=50', 'Bearer t', ''],
    ['POST', '/api/v1/embed/generate-session', 'Bearer t', '{"deploymentId":1,"externalId":"ada"}'],
  ]);
});

test.each([
  '<html>Bad gateway</html>',
  '',
  '{}',
  '[]',
  'null',
  '{"message":"Gateway"}',
  '{"code":42,"message":null}',
  '{"code":"bad_gateway","message":""}',
  '{"code":"bad_gateway","message":"No.","issues":"none"}',
])('an answer that is not from the server is an error too: %s', async (text) => {
  const baseUrl = await serve((_request, response) => void response.writeHead(502).end(text));
  const attempt = createOrielClient({ baseUrl }).getMe();
  await expect(attempt).rejects.toMatchObject({
    name: 'OrielError',
    operation: 'getMe',
    status: 502,
    code: 'unknown_error',
    message: 'HTTP 502',
    issues: [],
    conflicts: [],
  });
});

test('a call can be aborted, even while it waits to try again', async () => {
  const baseUrl = await serve(
    (_request, response) => void response.writeHead(503, { 'retry-after': '60' }).end('{}'),
  );
  const abort = new AbortController();
  const attempt = createOrielClient({ baseUrl }).getMe({}, { signal: abort.signal });
  setTimeout(() => abort.abort(new Error('enough')), 50);
  await expect(attempt).rejects.toThrow('enough');
});

test('the iterator fetches pages as they are needed', async () => {
  const asked: (string | undefined)[] = [];
  const pages: Record<string, object> = {
    '': { items: [{ id: 1 }, { id: 2 }], pageInfo: { hasNextPage: true, endCursor: 'c1' } },
    c1: { items: [{ id: 3 }], pageInfo: { hasNextPage: false, endCursor: 'c2' } },
  };
  const baseUrl = await serve((request, response) => {
    const after = new URL(request.url!, 'http://x').searchParams.get('after') ?? '';
    asked.push(after);
    response.end(JSON.stringify(pages[after]));
  });
  const items = createOrielClient({ baseUrl }).iterate.listApiKeys();
  expect((await items.next()).value?.id).toBe(1);
  expect(asked).toEqual(['']);
  const rest = [];
  for await (const key of items) rest.push(key.id);
  expect([rest, asked]).toEqual([
    [2, 3],
    ['', 'c1'],
  ]);
});

test('the iterator refuses a list without a cursor, instead of ending early', async () => {
  const baseUrl = await serve((_request, response) =>
    response.end(JSON.stringify({ items: [{ id: 1 }], pageInfo: null })),
  );
  const items = createOrielClient({ baseUrl }).iterate.getReports({ deploymentId: 1, limit: 1 });
  await expect(items.next()).rejects.toThrow('This list has no cursor');
});

test('a list that repeats folders on every page cannot be iterated', () => {
  const { iterate, listFiles } = createOrielClient({ baseUrl: 'http://127.0.0.1' });
  expect([typeof listFiles, typeof iterate.getFolders]).toEqual(['function', 'function']);
  expect(iterate).not.toHaveProperty('listFiles');
});

test('the client is small, contains no schema and imports nothing from Node', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(import.meta.dirname, 'index.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true,
  });
  expect(gzipSync(outputFiles[0]!.contents).length).toBeLessThan(15 * 1024);
  expect(Object.keys(metafile.inputs).filter((file) => !file.startsWith('packages/client/src/'))).toEqual([]);
});
