/** The attributes of a viewer, which decide row-level security. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmbedding, type Embedding } from '../../../test/embedding.ts';
import { unique } from '../../../test/world.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createEmbedding();
});
afterAll(() => embedding.stop());

const FITTING: [type: string, value: unknown][] = [
  ['string', 'EU'],
  ['string', ''],
  ['string', '5'],
  ['string', 'null'],
  ['string', '["a"]'],
  ['string', '  spaces, "quotes", \\ and \u2028 stay  '],
  ['string', '👩‍👩‍👧 שלום'],
  ['string', 'x'.repeat(300)],
  ['number', 0],
  ['number', -1.5],
  ['number', 9007199254740991],
  ['number', -9007199254740991],
  ['number', 5e-324],
  ['boolean', true],
  ['boolean', false],
  ['string_array', []],
  ['string_array', ['EU']],
  ['string_array', ['b', 'a', 'b', '']],
  ['number_array', []],
  ['number_array', [3, 1, 2.5]],
];

const UNFITTING: [type: string, value: unknown][] = [
  ['string', 5],
  ['string', true],
  ['string', []],
  ['string', ['EU']],
  ['number', '5'],
  ['number', ''],
  ['number', true],
  ['number', [5]],
  ['boolean', 'true'],
  ['boolean', 0],
  ['boolean', []],
  ['string_array', 'EU'],
  ['string_array', [1]],
  ['string_array', ['EU', 1]],
  ['number_array', 1],
  ['number_array', ['1']],
  ['number_array', [1, 'EU']],
];

describe.each([false, true])('with creator mode %j', (creatorMode) => {
  /** Inserts an attribute into the catalogue of this mode. */
  async function attribute(type: string, defaultValue?: string) {
    const embedTenantName = embedding.tenant();
    const name = await embedding.accountAttribute(type, defaultValue);
    if (creatorMode) {
      await embedding.mint({ embedTenantName });
      await embedding.rows('update user_attributes set embed_tenant = $2 where name = $1', [
        name,
        embedTenantName,
      ]);
    }
    return { name, viewer: { embedTenantName, creatorMode, externalId: unique('ada') } };
  }

  test.each(FITTING)('a %s accepts %j and returns it unchanged', async (type, value) => {
    const { name, viewer } = await attribute(type);
    const seen = await embedding.see({ ...viewer, userAttributes: [{ name, value }] });
    expect(seen.userAttributes[name]).toEqual(value);
    expect((await embedding.see(viewer)).userAttributes[name]).toEqual(value);
  });

  test.each(UNFITTING)('a %s refuses %j', async (type, value) => {
    const { name, viewer } = await attribute(type);
    expect(await embedding.refusal({ ...viewer, userAttributes: [{ name, value }] })).toMatchObject({
      status: 400,
      code: 'attribute_value_mismatch',
      message: expect.stringContaining(name),
      issues: [{ path: 'userAttributes[0].value' }],
    });
  });

  test.each([
    ['string', 'EU', 'EU'],
    ['number', '5', 5],
    ['boolean', 'true', true],
    ['string_array', '["EU"]', ['EU']],
    ['number_array', '[1, 2]', [1, 2]],
  ])('a %s without a value shows its default %s', async (type, defaultValue, shown) => {
    const { name, viewer } = await attribute(type, defaultValue);
    expect((await embedding.see(viewer)).userAttributes[name]).toEqual(shown);
  });

  test.each([null, undefined])('a value of %j clears the stored value', async (value) => {
    const { name, viewer } = await attribute('string');
    await embedding.mint({ ...viewer, userAttributes: [{ name, value: 'EU' }] });
    const seen = await embedding.see({ ...viewer, userAttributes: [{ name, value }] });
    expect(seen.userAttributes[name]).toBeNull();
    expect((await embedding.see(viewer)).userAttributes[name]).toBeNull();
  });

  test('a value that was cleared shows the default again', async () => {
    const { name, viewer } = await attribute('string', 'anywhere');
    await embedding.mint({ ...viewer, userAttributes: [{ name, value: 'EU' }] });
    await embedding.mint({ ...viewer, userAttributes: [{ name, value: null }] });
    expect((await embedding.see(viewer)).userAttributes[name]).toBe('anywhere');
  });

  test('a call with unknown attributes fails, and the error names each of them', async () => {
    const { name, viewer } = await attribute('string');
    const refusal = await embedding.refusal({
      ...viewer,
      userAttributes: [
        { name: 'zebra', value: 1 },
        { name, value: 'EU' },
        { name: 'ant', value: null },
      ],
    });
    expect(refusal).toEqual({
      status: 400,
      code: 'user_attributes_not_found',
      message: 'User attributes not found',
      issues: [
        {
          path: 'userAttributes[0].name',
          message: expect.stringMatching(
            creatorMode ? /zebra\. In creator mode.*of the embed tenant/ : /zebra\. .* of the account/,
          ),
        },
        { path: 'userAttributes[2].name', message: expect.stringContaining('ant') },
      ],
    });
    expect((await embedding.see(viewer)).userAttributes[name]).toBeNull();
  });
});

test('a later call replaces only the values that it gives', async () => {
  const externalId = unique('ada');
  const [region, tier] = [
    await embedding.accountAttribute('string'),
    await embedding.accountAttribute('number'),
  ];
  const given = (name: string, value: unknown) => ({ externalId, userAttributes: [{ name, value }] });
  await embedding.mint(given(region, 'EU'));
  await embedding.mint(given(tier, 1));
  expect((await embedding.see(given(region, 'US'))).userAttributes).toMatchObject({
    [region]: 'US',
    [tier]: 1,
  });
  for (const userAttributes of [undefined, null, []]) {
    expect((await embedding.see({ externalId, userAttributes })).userAttributes).toMatchObject({
      [region]: 'US',
      [tier]: 1,
    });
  }
});

test('values belong to one user', async () => {
  const region = await embedding.accountAttribute('string');
  await embedding.mint({ userAttributes: [{ name: region, value: 'EU' }] });
  expect((await embedding.see()).userAttributes[region]).toBeNull();
});

test('an attribute that is given twice is refused, even with the same value', async () => {
  const name = await embedding.accountAttribute('string');
  for (const value of ['EU', 'US', null]) {
    const userAttributes = [
      { name, value: 'EU' },
      { name, value },
    ];
    expect(await embedding.refusal({ userAttributes })).toMatchObject({
      status: 400,
      code: 'duplicate_attribute_name',
      message: expect.stringContaining(name),
      issues: [{ path: 'userAttributes[1].name' }],
    });
  }
});

test('neither mode can use the attributes of the other', async () => {
  const viewer = { embedTenantName: embedding.tenant(), externalId: unique('ada') };
  const ofAccount = await embedding.accountAttribute('string');
  const ofTenant = unique('theirs');
  const creator = { ...viewer, creatorMode: true };
  await embedding.mint({ ...creator, userAttributeDefinitions: [{ name: ofTenant, type: 'string' }] });
  const given = (name: string) => ({ userAttributes: [{ name, value: 'EU' }] });
  const unknown = { status: 400, message: 'User attributes not found' };
  expect(await embedding.refusal({ ...creator, ...given(ofAccount) })).toMatchObject(unknown);
  expect(await embedding.refusal({ ...viewer, ...given(ofTenant) })).toMatchObject(unknown);
  const other = { ...creator, embedTenantName: embedding.tenant() };
  expect(await embedding.refusal({ ...other, ...given(ofTenant) })).toMatchObject(unknown);
  expect(Object.keys((await embedding.see({ ...creator, ...given(ofTenant) })).userAttributes)).toEqual([
    ofTenant,
  ]);
  expect((await embedding.see({ ...viewer, ...given(ofAccount) })).userAttributes).not.toHaveProperty(
    ofTenant,
  );
});

test('an attribute may have any name, even the name of a built-in property of objects', async () => {
  const viewer = { embedTenantName: embedding.tenant(), creatorMode: true };
  const names = ['__proto__', 'constructor', 'toString', 'a"b\\c', 'größe 🦊', 'שם'];
  await embedding.mint({
    ...viewer,
    userAttributeDefinitions: names.map((name) => ({ name, type: 'string' })),
  });
  const seen = await embedding.see({
    ...viewer,
    userAttributes: names.map((name) => ({ name, value: `of ${name}` })),
  });
  expect(Object.entries(seen.userAttributes).sort()).toEqual(
    names.map((name) => [name, `of ${name}`]).sort(),
  );
});

test.each<[string, unknown]>([
  ['a value that is an object', { name: 'n', value: {} }],
  ['a list of lists', { name: 'n', value: [['EU']] }],
  ['a list of booleans', { name: 'n', value: [true] }],
  ['a list with null', { name: 'n', value: ['EU', null] }],
  ['no name', { value: 'EU' }],
  ['an empty name', { name: '', value: 'EU' }],
  ['another field', { name: 'n', value: 'EU', type: 'string' }],
])('an attribute with %s does not match the operation', async (_, attribute) => {
  expect(await embedding.refusal({ userAttributes: [attribute] })).toMatchObject({
    status: 400,
    code: 'invalid_request',
  });
});

test('a number that would be rounded is refused', async () => {
  const name = await embedding.accountAttribute('number');
  for (const value of ['1e400', '-1e400', '[1e400]', '9007199254740993', '[1,-9007199254740993.0]', '1e16']) {
    const body = `{"deploymentId":${embedding.deploymentId},"externalId":"ada","userAttributes":[{"name":"${name}","value":${value}}]}`;
    const headers = { 'content-type': 'application/json' };
    const response = await embedding.world.raw('POST', '/api/v1/embed/generate-session', { headers, body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'integer_too_large' });
  }
});
