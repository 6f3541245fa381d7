/** Tests which addresses and methods are served, and the replies to all others. */
import { request as httpRequest, METHODS } from 'node:http';
import { allOperations, collectionPaths, hasBody, successStatus } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkReply } from '../../../test/checked-fetch.ts';
import { errorCodeOf } from '../../../test/error-code.ts';
import { addressOf } from '../../../test/samples.ts';
import { ADMIN_KEY, createWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

/** Like `fetch`, but with any method. */
const ask = (method: string, path: string, body?: string) =>
  new Promise<Response>((resolve, reject) => {
    const headers = {
      authorization: `Api-Key ${ADMIN_KEY}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    };
    const request = httpRequest(world.url + path, { method, headers }, (message) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk) => chunks.push(chunk));
      message.on('end', async () => {
        const response = new Response(chunks.length ? Buffer.concat(chunks) : null, {
          status: message.statusCode,
          headers: message.headers as Record<string, string>,
        });
        try {
          if (method !== 'HEAD') checkReply(method, path, response, await response.clone().text());
          resolve(response);
        } catch (error) {
          reject(error);
        }
      });
    });
    request.on('error', reject);
    request.end(body);
  });

const TAKEN = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const exotic = [...new Set([...METHODS, 'QUERY'])].filter(
  (method) => !TAKEN.includes(method) && method !== 'CONNECT',
);

describe('a method that a known path does not accept is a 405 that names the accepted methods', () => {
  test.each([
    ['PUT', '/api/v1/regions', 'GET, HEAD'],
    ['PUT', '/api/v1/regions/', 'GET, HEAD'],
    ['PUT', '/api/v1/users', 'GET, HEAD, POST'],
    ['DELETE', '/api/v1/embed-tenants', 'GET, HEAD'],
    ['DELETE', '/api/v1/embed-tenants/', 'GET, HEAD'],
    ['POST', '/api/v1/deployments/1', 'DELETE, GET, HEAD, PUT'],
    ['OPTIONS', '/api/v1/embed/generate-session', 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['DELETE', '/docs', 'GET, HEAD'],
    ['POST', '/.well-known/jwks.json', 'GET, HEAD'],
  ])('%s %s', async (method, path, allow) => {
    const response = await ask(method, path);
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    expect(await response.json()).toMatchObject({ code: 'method_not_allowed' });
  });

  test('a word in a path is not the id of another path', async () => {
    const methodsAt = (path: string) =>
      allOperations.filter((op) => op.path === path).flatMap(({ method }) => method);
    const words: Record<string, string> = {
      '/api/v1/users/me': '/api/v1/users/me',
      '/api/v1/embed/sessions/revoke': '/api/v1/embed/sessions/revoke',
      '/api/v1/deployments/{deploymentId}/workbooks/by-slug/{slug}':
        '/api/v1/deployments/1/workbooks/by-slug/duplicate',
    };
    for (const [path, address] of Object.entries(words)) {
      const accepted = methodsAt(path);
      const allow = [...accepted, ...(accepted.includes('GET') ? ['HEAD'] : [])].sort().join(', ');
      for (const method of TAKEN.filter((name) => !allow.split(', ').includes(name))) {
        const response = await ask(method, address);
        expect([method, path, response.status, response.headers.get('allow')]).toEqual([
          method,
          path,
          405,
          allow,
        ]);
      }
    }
  });

  test.each(exotic)('%s, with and without a body', async (method) => {
    for (const body of [undefined, '{}', '{']) {
      expect((await ask(method, '/api/v1/users', body)).status).toBe(405);
      expect((await ask(method, '/api/v1/nothing', body)).status).toBe(404);
    }
  });
});

describe('the reply to HEAD is that of GET, without the body', () => {
  const headersOf = (response: Response) =>
    Object.fromEntries([...response.headers].filter(([name]) => !['date', 'x-request-id'].includes(name)));
  test.each([
    '/api/v1/users/me',
    '/api/v1/regions/',
    '/api/v1/spec',
    '/healthz',
    '/docs',
    '/api/v1/nothing',
    '/api/v1/users/abc',
  ])('%s', async (path) => {
    const [get, head] = [await ask('GET', path), await ask('HEAD', path)];
    expect(head.status).toBe(get.status);
    expect(await head.text()).toBe('');
    expect(Object.keys(headersOf(head)).sort()).toEqual(Object.keys(headersOf(get)).sort());
  });
});

describe('collections are served with and without a final slash, all other paths only as they are written', () => {
  const collections = collectionPaths(allOperations);
  const cases = (isCollection: boolean) =>
    allOperations
      .filter(({ path }) => collections.has(path) === isCollection)
      .map((op) => [op.id, op] as const);
  const addSlash = (address: string) => address.replace(/(\?|$)/, '/$1');

  test.each(cases(true))('%s is served at both paths', async (_id, op) => {
    // A GET must succeed, or be a 404 for the resource in its path. For other methods, it is enough that the operation
    // is reached.
    const body = hasBody(op) ? JSON.stringify({ surprise: 1 }) : undefined;
    const bare = await ask(op.method, addressOf(op), body);
    const slashed = await ask(op.method, addSlash(addressOf(op)), body);
    expect(slashed.status).toBe(bare.status);
    if (op.method === 'GET' && bare.status === successStatus(op)) {
      const list = (await slashed.json()) as object;
      const isList = Object.keys(list).some((name) => ['items', 'data', 'users', 'Resources'].includes(name));
      expect(isList || Array.isArray(list)).toBe(true);
    } else if (!slashed.ok) expect(await errorCodeOf(slashed)).not.toBe('route_not_found');
  });

  test.each(cases(false))('%s is served at one path', async (_id, op) => {
    const response = await ask(op.method, addSlash(addressOf(op)), hasBody(op) ? '{}' : undefined);
    expect(response.status).toBe(404);
    expect(await errorCodeOf(response)).toBe('route_not_found');
  });

  test('every list is a collection, and no single resource is', () => {
    // The values of a user are a list.
    const ofOne = [...collections].filter((path) => path.endsWith('}'));
    expect(ofOne).toEqual(['/api/v1/user-attribute-values/{userId}']);
    for (const path of [
      '/api/v1/deployments',
      '/api/v1/api-keys',
      '/api/v1/users',
      '/api/v1/deployments/{deploymentId}/reports',
      '/build/api/v1/deployments',
    ])
      expect(collections).toContain(path);
  });
});

describe('every reply carries the same headers', () => {
  test.each([
    ['GET', '/api/v1/regions'],
    ['GET', '/api/v1/nothing'],
    ['PUT', '/api/v1/regions'],
    ['GET', '/docs'],
    ['GET', '/docs/swagger-ui.css'],
    ['GET', '/metrics'],
    ['GET', '/'],
    ['GET', '/api/v1/api-keys/%zz'],
  ])('%s %s', async (method, path) => {
    const response = await ask(method, path);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-request-id')).toBeTruthy();
    expect(response.headers.get('cache-control')).toMatch(/^no-/);
  });
});
