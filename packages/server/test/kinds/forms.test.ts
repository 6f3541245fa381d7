import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ExampleServer, startExample } from './example-server.ts';

let server: ExampleServer;
beforeAll(async () => {
  server = await startExample();
});
afterAll(() => server.stop());

const FORM = 'application/x-www-form-urlencoded';
const send = async (body: string, type = FORM, path = '/example/form') => {
  const response = await server.raw('POST', path, { headers: { 'content-type': type }, body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

test('texts of a form are converted to the types of the schema', async () => {
  const body = { name: 'ä & b = 1+1', count: 3, isNew: true };
  expect(await server.client.postForm({ body })).toEqual(body);
  expect(await send('name=a+b%26&isNew=false')).toEqual({
    status: 200,
    body: { name: 'a b&', isNew: false },
  });
});

test.each([
  ['a field twice', 'name=a&name=b', 'name', 'is given more than once'],
  ['a field twice, once encoded', 'name=a&n%61me=b', 'name', 'is given more than once'],
  ['an unknown field', 'name=a&nmae=b', 'nmae', 'is not a known field'],
  ['a missing field', 'count=1', 'name', 'is required'],
  ['a text instead of a number', 'name=a&count=many', 'count', 'must be a whole number'],
  ['a number that is too large', 'name=a&count=11', 'count', 'must be 10 or less'],
  ['a field that every object has', 'name=a&__proto__=x', '__proto__', 'is not a known field'],
])('%s is a 400 that names it', async (_, form, path, message) => {
  expect(await send(form)).toMatchObject({ status: 400, body: { issues: [{ path, message }] } });
});

test('a NUL is a 400 that names its field', async () => {
  const message = 'must not have NUL (U+0000), because it cannot be stored';
  expect(await send('name=a%00b')).toMatchObject({
    status: 400,
    body: { issues: [{ path: 'name', message }] },
  });
});

test.each([
  ['cut encoding', 'name=100%', 400, 'invalid_text'],
  ['an encoding that is not a character', 'name=%ff', 400, 'invalid_text'],
  ['a NUL', 'name=%00', 400, 'invalid_text'],
  ['too much', `name=${'x'.repeat(1100)}`, 413, 'body_too_large'],
  ['nothing', '', 400, 'invalid_request'],
])('%s is refused', async (_, form, status, code) => {
  expect(await send(form)).toMatchObject({ status, body: { code } });
});

test.each([
  'application/json',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-www-form',
  '',
])('the type %o is a 415 that names the right one', async (type) => {
  const { status, body } = await send('name=a', type);
  expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
  expect(body.message).toContain(FORM);
});

describe('form or JSON', () => {
  const path = '/example/form-or-json';

  test('the content type decides how the body is read', async () => {
    expect(await send('name=a&count=2', FORM, path)).toEqual({ status: 200, body: { name: 'a', count: 2 } });
    expect(await send('{"name":"a","count":2}', 'application/json', path)).toEqual({
      status: 200,
      body: { name: 'a', count: 2 },
    });
    expect(await server.client.postFormOrJson({ body: { name: 'a' } })).toEqual({ name: 'a' });
  });

  test('values in JSON are not converted, and a body with the wrong content type is refused', async () => {
    expect(await send('{"name":"a","count":"2"}', 'application/json', path)).toMatchObject({ status: 400 });
    expect(await send('name=a', 'application/json', path)).toMatchObject({
      status: 400,
      body: { code: 'malformed_json' },
    });
    expect(await send('{"name":"a"}', FORM, path)).toMatchObject({ status: 400 });
    expect(await send('name=a', 'text/plain', path)).toMatchObject({ status: 415 });
  });
});

test('a body with its own JSON type may also be sent as plain JSON, and the reply has its own type', async () => {
  for (const type of ['application/scim+json', 'application/json']) {
    const response = await server.raw('POST', '/example/scim', {
      headers: { 'content-type': type },
      body: '{"name":"a"}',
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      201,
      'application/scim+json; charset=utf-8',
    ]);
  }
});
