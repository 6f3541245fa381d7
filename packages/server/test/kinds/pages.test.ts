/** Pages, redirects, headers, and operations with several methods. */
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { serverErrors } from '../server-log.ts';
import { type ExampleServer, startExample } from './example-server.ts';

let server: ExampleServer;
beforeAll(async () => {
  server = await startExample();
});
afterAll(() => server.stop());

test('a page arrives as text, and by default may not load or run anything', async () => {
  const { body, headers } = await server.client.withHeaders.getPage();
  expect(body).toBe('<!doctype html><title>ä</title>');
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
});

describe('redirects', () => {
  test('name their target, and the client does not follow them', async () => {
    expect(await server.client.getElsewhere({ to: '/docs?a=b&c=%20' })).toEqual({
      location: '/docs?a=b&c=%20',
    });
    const response = await server.raw('GET', '/example/elsewhere?to=/docs');
    expect([response.status, await response.text()]).toEqual([303, '']);
  });

  test('cannot be misused to send other headers', async () => {
    const { location } = await server.client.getElsewhere({ to: '/a\r\nset-cookie: x=1\r\n\r\nä' });
    expect(location).toBe('/a%0D%0Aset-cookie:%20x=1%0D%0A%0D%0A%C3%A4');
  });

  test('that fail are errors', async () => {
    await expect(server.client.getElsewhere({ to: 'nowhere' })).rejects.toMatchObject({
      code: 'role_not_found',
    });
  });
});

describe('headers', () => {
  const call = (headers: { 'x-branch': string; 'x-depth'?: number }) =>
    server.client.withHeaders.getWithHeaders({ headers });

  test('are sent, checked and typed, in requests and replies', async () => {
    const { body, headers } = await call({ 'x-branch': 'main', 'x-depth': 3 });
    expect(body).toEqual({ branch: 'main', depth: 3 });
    expect(headers.get('x-branch-of')).toBe('main');
    expectTypeOf(body).toEqualTypeOf<{ branch: string; depth?: number }>();
  });

  test.each([
    ['a missing one', {}, 'x-branch', 'is required'],
    ['an empty one', { 'x-branch': '' }, 'x-branch', 'must have at least 1 character'],
    ['a wrong type', { 'x-branch': 'a', 'x-depth': 'deep' }, 'x-depth', 'must be a whole number'],
  ])('%s is a 400 that names it', async (_, headers, path, message) => {
    const response = await server.raw('GET', '/example/headers', {
      headers: headers as Record<string, string>,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ issues: [{ path, message }] });
  });

  test('a reply whose headers do not match the contract is a 500', async () => {
    for (const branch of ['forgotten', 'ab']) {
      await expect(call({ 'x-branch': branch })).rejects.toMatchObject({
        status: 500,
        code: 'internal_error',
      });
    }
    expect(serverErrors()).toEqual([
      expect.stringContaining('getWithHeaders sends headers that its contract refuses'),
      expect.stringContaining('getWithHeaders sends headers that its contract refuses'),
    ]);
  });

  test('the client sends no header that the operation does not have', async () => {
    const wrong = { 'x-branch': 'a', cookie: 'x' };
    await expect(server.client.getWithHeaders({ headers: wrong })).rejects.toThrow(
      'getWithHeaders: cookie is not a header of this operation',
    );
  });
});

test('one handler serves an operation with two methods, each with its own id', async () => {
  const call = { id: 7, body: { name: 'a' } };
  expect(await server.client.putThing(call)).toEqual({ id: 7, name: 'a' });
  expect(await server.client.putThingByPost(call)).toEqual({ id: 7, name: 'a' });
  const other = await server.raw('PATCH', '/example/things/7');
  expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST, PUT']);
});
