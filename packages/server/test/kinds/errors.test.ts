/** All errors of an operation have the form that the operation chose, no matter which part of the server finds them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCodeOf } from '../error-code.ts';
import { type ExampleServer, startExample } from './example-server.ts';

let server: ExampleServer;
beforeAll(async () => {
  server = await startExample();
});
afterAll(() => server.stop());

const FORM = 'application/x-www-form-urlencoded';
type Init = Parameters<ExampleServer['raw']>[2];
const good = { headers: { 'content-type': FORM }, body: 'name=a' };

/** Each error once, with its codes in RFC 6749 and RFC 7644. */
const cases: [status: number, code: string, query: string, init: Init, oauth: string, scimType?: string][] = [
  [400, 'invalid_request', 'code=x', { ...good, body: 'count=1' }, 'invalid_request', 'invalidValue'],
  [400, 'invalid_request', '', good, 'invalid_request', 'invalidValue'],
  [400, 'invalid_text', 'code=x', { ...good, body: 'name=%ff' }, 'invalid_request', 'invalidValue'],
  [401, 'unauthenticated', 'code=x', { ...good, key: null }, 'invalid_client'],
  [401, 'unauthenticated', 'code=x', { ...good, key: 'wrong' }, 'invalid_client'],
  [401, 'invalid_session', 'code=invalid_session', good, 'invalid_client'],
  [403, 'forbidden', 'code=forbidden', good, 'access_denied'],
  [404, 'role_not_found', 'code=role_not_found', good, 'invalid_request'],
  [409, 'username_taken', 'code=username_taken', good, 'invalid_request', 'uniqueness'],
  [413, 'body_too_large', 'code=x', { ...good, body: `name=${'x'.repeat(300_000)}` }, 'invalid_request'],
  [
    415,
    'unsupported_media_type',
    'code=x',
    { headers: { 'content-type': 'text/plain' }, body: 'x' },
    'invalid_request',
  ],
  [500, 'internal_error', 'code=crash', good, 'server_error'],
  [503, 'unavailable', 'code=unavailable', good, 'temporarily_unavailable'],
  [503, 'busy', 'code=busy', good, 'temporarily_unavailable'],
  [504, 'timed_out', 'code=timed_out', good, 'server_error'],
];

test('the client reads code and message from every form', async () => {
  for (const id of ['failStandard', 'failOauth', 'failScim', 'failMessage'] as const) {
    const attempt = server.client[id]({ code: 'role_not_found', body: { name: 'a' } });
    await expect(attempt).rejects.toMatchObject({
      operation: id,
      status: 404,
      code: 'role_not_found',
      message: 'There is no such role.',
      requestId: expect.any(String),
    });
  }
});

describe('a request that no operation takes gets the form of the operations around it', () => {
  const formOf = async (method: string, path: string) => {
    const response = await server.raw(method, path);
    const body = (await response.clone().json()) as Record<string, unknown>;
    return [response.status, await errorCodeOf(response), Object.keys(body).sort()];
  };
  const forms = {
    scim: ['detail', 'schemas', 'status'],
    oauth: ['error', 'error_description'],
    message: ['error'],
    standard: ['code', 'error', 'message', 'requestId', 'statusCode'],
  };

  test.each([
    ['GET', '/example/fail/scim', 405, 'method_not_allowed', 'scim'],
    ['GET', '/example/fail/oauth', 405, 'method_not_allowed', 'oauth'],
    ['GET', '/example/fail/message', 405, 'method_not_allowed', 'message'],
    ['GET', '/example/fail/standard', 405, 'method_not_allowed', 'standard'],
    ['GET', '/example/family/things/1/unknown', 404, 'route_not_found', 'scim'],
    ['GET', '/example/family/unknown?x=1', 404, 'route_not_found', 'scim'],
    ['PATCH', '/example/family/things/word', 405, 'method_not_allowed', 'scim'],
    ['GET', '/example/family/things/%zz', 400, 'invalid_url', 'scim'],
    ['GET', '/example/fail/unknown', 404, 'route_not_found', 'standard'],
    ['GET', '/unknown', 404, 'route_not_found', 'standard'],
  ] as const)('%s %s', async (method, path, status, code, form) => {
    expect(await formOf(method, path)).toEqual([status, code, forms[form]]);
  });
});

describe.each(['standard', 'oauth', 'scim', 'message'] as const)('the form %s', (shape) => {
  const send = async (query: string, init: Init) => {
    const response = await server.raw('POST', `/example/fail/${shape}?${query}`, init);
    return { response, body: (await response.json()) as Record<string, unknown> };
  };

  test.each(cases)('%i %s (%s)', async (status, code, query, init, oauth, scimType) => {
    const { response, body } = await send(query, init);
    expect(response.status).toBe(status);
    expect(JSON.stringify(body)).not.toContain('a secret of the server');
    if (shape === 'standard') return expect(body).toMatchObject({ statusCode: status, code });
    expect(response.headers.get('x-error-code')).toBe(code);
    if (shape === 'oauth') {
      expect(body).toEqual({ error: oauth, error_description: expect.stringMatching(/^[ !#-[\]-~]+$/) });
    } else if (shape === 'scim') {
      expect(response.headers.get('content-type')).toBe('application/scim+json; charset=utf-8');
      expect(body).toEqual({
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: String(status),
        detail: expect.any(String),
        ...(scimType ? { scimType } : {}),
      });
    } else {
      expect(body).toEqual({ error: expect.any(String) });
    }
  });

  test('429 rate_limited', async () => {
    let refused: Response;
    do {
      refused = await server.raw('POST', `/example/fail/${shape}?code=forbidden`, good);
    } while (refused.status === 403);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.any(String)]);
    expect(await errorCodeOf(refused)).toBe('rate_limited');
  });
});
