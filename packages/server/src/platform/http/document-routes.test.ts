import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { allOperations, openApiDocument } from '@oriel/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

/** Returns the raw body, which `fetch` would decode. */
const ask = (headers: Record<string, string>) =>
  new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    const request = httpRequest(`${world.url}/api/v1/spec`, { headers }, (message) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk) => chunks.push(chunk));
      message.on('end', () =>
        resolve({ status: message.statusCode!, headers: message.headers, body: Buffer.concat(chunks) }),
      );
    });
    request.on('error', reject).end();
  });

const document = JSON.stringify(openApiDocument(allOperations));

test.each([
  [undefined, undefined, (body: Buffer) => body],
  ['identity', undefined, (body: Buffer) => body],
  ['gzip', 'gzip', gunzipSync],
  ['gzip, deflate, br', 'br', brotliDecompressSync],
  ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
  ['br; q=0.000, gzip;q=0', undefined, (body: Buffer) => body],
])('with Accept-Encoding %s it comes as %s', async (accepted, encoding, decode) => {
  const { status, headers, body } = await ask(accepted ? { 'accept-encoding': accepted } : {});
  expect([status, headers['content-encoding']]).toEqual([200, encoding]);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(headers.vary).toBe('accept-encoding');
  expect(decode(body).toString()).toBe(document);
  if (encoding) expect(body.length).toBeLessThan(document.length / 5);
});

test('a client that already has the document gets an empty 304', async () => {
  const { headers } = await ask({});
  const etag = headers.etag!;
  for (const known of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
    const again = await ask({ 'if-none-match': known, 'accept-encoding': 'br' });
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
  }
  expect((await ask({ 'if-none-match': '"another"' })).status).toBe(200);
});

test('the schema of the modelling language is there for editors, without a credential', async () => {
  const schema = await world.client().getModelSchema();
  expect(schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
  const { $defs } = schema as { $defs: Record<string, { properties: Record<string, object> }> };
  expect($defs.measure!.properties.filters).toMatchObject({ description: expect.any(String) });
});
