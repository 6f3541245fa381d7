/** The security context, and rules for every field of the request. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmbedding, type Embedding } from '../../../test/embedding.ts';
import { unique } from '../../../test/world.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createEmbedding();
});
afterAll(() => embedding.stop());

const NOT_MATCHING = { status: 400, code: 'invalid_request' };

const send = (body: string) =>
  embedding.world.raw('POST', '/api/v1/embed/generate-session', {
    headers: { 'content-type': 'application/json' },
    body,
  });

describe('the security context', () => {
  test('is returned unchanged, and belongs to the session', async () => {
    const securityContext = {
      customer: { id: 42, tags: ['a', null, 1.5, true, { deep: [[]] }] },
      'a "quoted" key': '\u2028 </script> 🦊 שלום \\ \n',
      '': 'empty key',
      constructor: 'a word',
      zero: 0,
    };
    const externalId = unique('ada');
    expect((await embedding.see({ externalId, securityContext })).securityContext).toEqual(securityContext);
    expect((await embedding.see({ externalId })).securityContext).toBeNull();
    expect((await embedding.see({ externalId, securityContext: {} })).securityContext).toEqual({});
    expect((await embedding.see({ externalId, securityContext: null })).securityContext).toBeNull();
  });

  const LIMIT = 64 * 1024;
  const OVERHEAD = '{"k":""}'.length;
  test.each([
    ['plain letters', 'x'.repeat(LIMIT - OVERHEAD)],
    ['letters of two bytes', 'é'.repeat((LIMIT - OVERHEAD) / 2)],
    ['emoji', '🦊'.repeat((LIMIT - OVERHEAD) / 4)],
  ])('holds up to 64 KB of JSON with %s, and not a byte more', async (_, k) => {
    expect((await embedding.see({ securityContext: { k } })).securityContext).toEqual({ k });
    expect(await embedding.refusal({ securityContext: { k: `${k}x` } })).toMatchObject({
      status: 400,
      code: 'security_context_too_large',
      issues: [{ path: 'securityContext' }],
    });
  });

  test('may be nested deeply, but only up to a limit', async () => {
    const nested = (depth: number) => {
      let value: object = {};
      for (let i = 1; i < depth; i++) value = { a: value };
      return value;
    };
    expect((await embedding.see({ securityContext: nested(90) })).securityContext).toEqual(nested(90));
    expect(await embedding.refusal({ securityContext: nested(200) })).toMatchObject({
      status: 400,
      code: 'json_too_deep',
    });
  });

  test.each([
    '{"__proto__":{"admin":true}}',
    '{"a":{"__proto__":1}}',
    '{"a":[{"\\u005f_proto__":1}]}',
    '{"constructor":{"prototype":{"admin":true}}}',
  ])('cannot change prototypes: %s', async (context) => {
    const response = await send(
      `{"deploymentId":${embedding.deploymentId},"externalId":"ada","securityContext":${context}}`,
    );
    expect(response.status).toBe(400);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test('refuses a number that would be rounded', async () => {
    for (const context of [
      '{"limit":1e400}',
      '{"a":[{"b":-1e400}]}',
      '{"customer":{"id":9007199254740993}}',
    ]) {
      const response = await send(
        `{"deploymentId":${embedding.deploymentId},"externalId":"ada","securityContext":${context}}`,
      );
      expect(response.status).toBe(400);
    }
  });

  test.each<[unknown]>([[[]], ['text'], [5], [true]])(
    'must be an object, not %j',
    async (securityContext) => {
      expect(await embedding.refusal({ securityContext })).toMatchObject(NOT_MATCHING);
    },
  );
});

test('an unknown field is refused, and the error names it', async () => {
  for (const field of ['ephemeralTtlSeconds', 'tenant', 'userattributes', 'sessionId', 'dryRun']) {
    expect(await embedding.refusal({ [field]: 60 } as object)).toEqual({
      ...NOT_MATCHING,
      message: `${field}: is not a known field`,
      issues: [{ path: field, message: 'is not a known field' }],
    });
  }
});

const OPTIONAL = [
  'email',
  'userProfile',
  'embedTenantName',
  'creatorMode',
  'userAttributes',
  'groups',
  'userAttributeDefinitions',
  'groupDefinitions',
  'tenantGroups',
  'tenantGroupDefinitions',
  'embedTenantProfile',
  'securityContext',
  'settings',
  'embedTheme',
];

test.each([...OPTIONAL, 'internalId'])('null for %s counts as not given', async (field) => {
  const externalId = unique('ada');
  const { expiresAt: _, ...before } = await embedding.see({ externalId });
  const { expiresAt: __, ...after } = await embedding.see({ externalId, [field]: null });
  expect(after).toEqual(before);
});

test('a call with null for every optional field works like a call without these fields', async () => {
  const nothing = Object.fromEntries(OPTIONAL.map((field) => [field, null]));
  expect(await embedding.see(nothing)).toMatchObject({
    deploymentId: embedding.deploymentId,
    embedTenantName: 'oriel',
    creatorMode: false,
    groups: [],
    tenantGroups: [],
    securityContext: null,
    embedTheme: null,
  });
});

test.each([
  ['externalId', (text: string) => ({ externalId: text })],
  ['userProfile.displayName', (text: string) => ({ userProfile: { displayName: text } })],
  ['groups', (text: string) => ({ groups: [text] })],
  ['userAttributes', (text: string) => ({ userAttributes: [{ name: 'n', value: text }] })],
  ['securityContext', (text: string) => ({ securityContext: { k: { [text]: 1 } } })],
])('a NUL or half a character in %s is refused', async (_, options) => {
  for (const text of ['a\0b', 'a\ud800b'])
    expect(await embedding.refusal(options(text))).toMatchObject({ status: 400, code: 'invalid_text' });
});

test.each([
  '👩‍👩‍👧‍👦',
  'مرحبا بالعالم',
  '\u202eevil\u202c',
  "'; drop table users; --",
  '{{7*7}}',
  '<b>x</b>',
  '',
])('a display name may be %j', async (displayName) => {
  expect((await embedding.see({ userProfile: { displayName } })).user.displayName).toBe(displayName);
});

test('the body must be a JSON object', async () => {
  for (const body of ['', '[]', '"ada"', 'null', '{', '{"deploymentId":1,}'])
    expect((await send(body)).status).toBe(400);
  const asText = await embedding.world.raw('POST', '/api/v1/embed/generate-session', {
    headers: { 'content-type': 'text/plain' },
    body: JSON.stringify(embedding.request()),
  });
  expect(asText.status).toBe(415);
});

test('a body of more than 4 MB is refused', async () => {
  const response = await send(JSON.stringify({ ...embedding.request(), email: 'x'.repeat(4_200_000) }));
  expect(response.status).toBe(413);
});

test('the reply contains only a session id, and each one is different', async () => {
  const body = embedding.request();
  const [one, two] = [
    await embedding.world.admin.generateSession({ body }),
    await embedding.world.admin.generateSession({ body }),
  ];
  expect(Object.keys(one)).toEqual(['sessionId']);
  expect(one.sessionId).not.toBe(two.sessionId);
  const stored = JSON.stringify(await embedding.rows('select s::text from embed_sessions s'));
  expect(stored).not.toContain(one.sessionId.split('.')[1]!.slice(0, 32));
});
