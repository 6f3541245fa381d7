/** What a call refuses to send, the headers that it sends and shows, and how long it waits. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import { createOrielClient, type OrielClient, OrielError, OrielTimeoutError } from './index.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A client whose server records each request and returns `{}`. */
async function noting(headers: Record<string, string> = {}, status = 200) {
  const requests: IncomingMessage[] = [];
  const baseUrl = await serve((request, response) => {
    requests.push(request);
    response.writeHead(status, headers).end(status === 304 ? undefined : '{}');
  });
  return { client: createOrielClient({ baseUrl, retries: 0 }), requests };
}

describe('a call with wrong arguments is refused before anything is sent', () => {
  type Wrong = (client: OrielClient) => Promise<unknown>;
  const wrong: [what: string, message: RegExp, call: Wrong][] = [
    [
      "a session's secret as a parameter",
      /^postTokenBySessionId: sessionId is not a parameter .*body/,
      // @ts-expect-error: the body is missing
      (client) => client.postTokenBySessionId({ sessionId: '1.secret' }),
    ],
    [
      'a field of the body beside the body',
      /^createApiKey: deploymentIds is not a parameter/,
      // @ts-expect-error: the field belongs in the body
      (client) => client.createApiKey({ deploymentIds: [1], body: { name: 'x' } }),
    ],
    [
      'a parameter of another operation',
      /^getMe: first is not a parameter/,
      // @ts-expect-error: the operation takes no parameters
      (client) => client.getMe({ first: 1 }),
    ],
    [
      'a path parameter that is missing',
      /^getDeployment: deploymentId must be given/,
      // @ts-expect-error: the path parameter is missing
      (client) => client.getDeployment({}),
    ],
    [
      'a path parameter that leads to another address',
      /^deleteEmbedTenant: embedTenantName must be given/,
      (client) => client.deleteEmbedTenant({ embedTenantName: '..' }),
    ],
  ];
  test.each(wrong)('%s', async (_, message, call) => {
    const { client, requests } = await noting();
    await expect(call(client)).rejects.toThrow(message);
    expect(requests).toEqual([]);
  });

  test('a wrong parameter of an iterated list', async () => {
    const { client, requests } = await noting();
    // @ts-expect-error: the operation has no such parameter
    await expect(client.iterate.listApiKeys({ name: 'x' }).next()).rejects.toThrow(
      /^listApiKeys: name is no/,
    );
    expect(requests).toEqual([]);
  });
});

test('a body that may be left out may be left out, and no other', async () => {
  const { client, requests } = await noting();
  await client.createResetLink({ id: 1 });
  await client.logout();
  await client.withHeaders.duplicateWorkbook({ deploymentId: 1, workbookId: 2 });
  await client.createResetLink({ id: 1, body: { expiresInSeconds: 600 } });
  // @ts-expect-error: the server needs this body
  await client.createFolder({ deploymentId: 1 });
  const types = requests.map(({ headers }) => headers['content-type']);
  expect(types).toEqual([undefined, undefined, undefined, 'application/json', undefined]);
});

describe('versions', () => {
  test('a call can require a version, and a reply shows its version', async () => {
    const { client, requests } = await noting({ etag: '"7"', 'x-request-id': 'abc' });
    const params = { deploymentId: 1, reportId: 2 };
    const { body, etag, status, headers } = await client.withHeaders.getReport(params);
    expect([body, etag, status, headers.get('x-request-id')]).toEqual([{}, '"7"', 200, 'abc']);
    await client.updateReport({ ...params, body: { name: 'x' } }, { ifMatch: etag });
    await client.getReport(params, { ifNoneMatch: etag });
    const sent = requests.map(({ headers }) => [headers['if-match'], headers['if-none-match']]);
    expect(sent).toEqual([
      [undefined, undefined],
      ['"7"', undefined],
      [undefined, '"7"'],
    ]);
  });

  test('an unchanged resource is an error with the code `not_modified`', async () => {
    const { client } = await noting({}, 304);
    await expect(client.getSpec({}, { ifNoneMatch: '"7"' })).rejects.toMatchObject({
      operation: 'getSpec',
      status: 304,
      code: 'not_modified',
    });
  });

  test('a reply with headers has the type of the plain one', () => {
    type Reply = Awaited<ReturnType<OrielClient['getReport']>>;
    type WithHeaders = Awaited<ReturnType<OrielClient['withHeaders']['getReport']>>;
    expectTypeOf<WithHeaders['body']>().toEqualTypeOf<Reply>();
    expectTypeOf<WithHeaders['etag']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<OrielClient['withHeaders']['getReport']>().parameters.toEqualTypeOf<
      Parameters<OrielClient['getReport']>
    >();
  });
});

describe('time limits', () => {
  const silent = () => serve(() => {});

  test("the client's limit ends a call that is not answered, and names the operation", async () => {
    const attempt = createOrielClient({ baseUrl: await silent(), timeoutMs: 20 }).getMe();
    await expect(attempt).rejects.toBeInstanceOf(OrielTimeoutError);
    await expect(attempt).rejects.toMatchObject({ operation: 'getMe', timeoutMs: 20 });
    await expect(attempt).rejects.toThrow('getMe: no answer within 20 ms');
  });

  test("a call's own limit overrides the client's limit", async () => {
    const client = createOrielClient({ baseUrl: await silent(), timeoutMs: 600_000 });
    await expect(client.getMe({}, { timeoutMs: 20 })).rejects.toMatchObject({ timeoutMs: 20 });
  });

  test('the limit includes an answer that begins but does not end, and the pauses between tries', async () => {
    const begun = await serve((_request, response) => void response.writeHead(200).write('{'));
    const busy = await serve(
      (_request, response) => void response.writeHead(503, { 'retry-after': '60' }).end(),
    );
    for (const baseUrl of [begun, busy]) {
      const attempt = createOrielClient({ baseUrl, timeoutMs: 50 }).getMe();
      await expect(attempt).rejects.toBeInstanceOf(OrielTimeoutError);
    }
  });

  test("the caller's own signal works together with a time limit", async () => {
    const abort = new AbortController();
    const client = createOrielClient({ baseUrl: await silent(), timeoutMs: 600_000 });
    const attempt = client.getMe({}, { signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(attempt).rejects.toThrow('enough');
  });
});

test('errors name the operation, even if no answer came', async () => {
  const refusing = await serve((_request, response) => {
    response.writeHead(404).end('{"code":"deployment_not_found","message":"There is no such deployment."}');
  });
  const refused = createOrielClient({ baseUrl: refusing }).getDeployment({ deploymentId: 7 });
  await expect(refused).rejects.toBeInstanceOf(OrielError);
  await expect(refused).rejects.toMatchObject({
    operation: 'getDeployment',
    message: 'There is no such deployment.',
  });

  const cutting = await serve((_request, response) => void response.destroy());
  const cut = createOrielClient({ baseUrl: cutting }).getDeployment({ deploymentId: 7 });
  await expect(cut).rejects.toBeInstanceOf(TypeError);
  await expect(cut).rejects.toThrow(/^getDeployment: /);
});
