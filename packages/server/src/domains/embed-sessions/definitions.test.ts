/** Groups and attributes that a call in creator mode defines. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmbedding, type Embedding, type SessionOptions } from '../../../test/embedding.ts';
import { unique } from '../../../test/world.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createEmbedding();
});
afterAll(() => embedding.stop());

const creator = (embedTenantName: string, options: SessionOptions = {}): SessionOptions => ({
  embedTenantName,
  creatorMode: true,
  ...options,
});
const GROUP_COLUMNS = 'name, description';
const groupsOf = (tenant: string) =>
  embedding.rows(`select ${GROUP_COLUMNS} from user_groups where embed_tenant = $1 order by name`, [tenant]);
const attributesOf = (tenant: string) =>
  embedding.rows(
    `select name, type, display_name, default_value, description from user_attributes
     where embed_tenant = $1 order by name`,
    [tenant],
  );

const DEFINITIONS: [field: string, definition: { name: string; type?: string }][] = [
  ['groupDefinitions', { name: 'thing' }],
  ['tenantGroupDefinitions', { name: 'thing' }],
  ['userAttributeDefinitions', { name: 'thing', type: 'string' }],
];

test.each(['groupDefinitions', 'tenantGroupDefinitions'])(
  '%s accept a name of up to 100 characters, but not a reserved name',
  async (field) => {
    const tenant = embedding.tenant();
    const names = ['🦊'.repeat(100), 'System:x', 'my system:'];
    await embedding.mint(creator(tenant, { [field]: names.map((name) => ({ name })) }));
    expect(await groupsOf(tenant)).toHaveLength(names.length);
    for (const name of ['x'.repeat(101), 'system:', 'system:admins'])
      expect(await embedding.refusal(creator(tenant, { [field]: [{ name }] }))).toMatchObject({
        status: 400,
        code: 'invalid_request',
        issues: [{ path: `${field}[0].name` }],
      });
  },
);

describe.each(DEFINITIONS)('%s', (field, definition) => {
  test('need creator mode, even for an empty list', async () => {
    for (const creatorMode of [undefined, false, null]) {
      for (const given of [[definition], []]) {
        const options = { embedTenantName: embedding.tenant(), creatorMode, [field]: given };
        expect(await embedding.refusal(options)).toMatchObject({
          status: 400,
          code: 'creator_mode_required',
          issues: [{ path: field }],
        });
      }
    }
  });

  test('need an embed tenant, even for an empty list', async () => {
    for (const embedTenantName of [undefined, null]) {
      for (const given of [[definition], []]) {
        expect(await embedding.refusal({ creatorMode: true, embedTenantName, [field]: given })).toMatchObject(
          { status: 400, code: 'embed_tenant_required', issues: [{ path: field }] },
        );
      }
    }
  });

  test('refuse a name that is given twice', async () => {
    const tenant = embedding.tenant();
    const options = creator(tenant, { [field]: [definition, { ...definition, name: 'other' }, definition] });
    expect(await embedding.refusal(options)).toMatchObject({
      status: 400,
      code: 'duplicate_definition_name',
      message: expect.stringContaining('thing'),
      issues: [{ path: `${field}[2].name` }],
    });
    expect(await embedding.rows('select from embed_tenants where name = $1', [tenant])).toEqual([]);
  });

  test('are idempotent: the same call again changes nothing and is not audited again', async () => {
    const tenant = embedding.tenant();
    const options = creator(tenant, {
      externalId: unique('ada'),
      [field]: [{ ...definition, description: 'A thing' }],
    });
    const state = async () => [
      await embedding.rows('select * from user_groups where embed_tenant = $1', [tenant]),
      await embedding.rows('select * from user_attributes where embed_tenant = $1', [tenant]),
      await embedding.rows(`select * from audit_log where operation = 'generateSession'`),
    ];
    await embedding.mint(options);
    const before = await state();
    await embedding.mint(options);
    expect(await state()).toEqual(before);
  });

  test('update a description that differs, and never clear one', async () => {
    const tenant = embedding.tenant();
    const describe = async (...given: (string | null | undefined)[]) => {
      for (const description of given)
        await embedding.mint(creator(tenant, { [field]: [{ ...definition, description }] }));
      const [row] = [...(await groupsOf(tenant)), ...(await attributesOf(tenant))];
      return row.description;
    };
    expect(await describe(undefined)).toBeNull();
    expect(await describe('First')).toBe('First');
    expect(await describe(undefined, null, '')).toBe('First');
    expect(await describe('Second')).toBe('Second');
  });

  test.each<[string, unknown]>([
    ['no name', { name: undefined }],
    ['an empty name', { name: '' }],
    ['a blank name', { name: '  ' }],
    ['a name with a control character', { name: 'a\tb' }],
    ['a name of 256 characters', { name: 'x'.repeat(256) }],
    ['a description that is too long', { description: 'x'.repeat(1001) }],
    ['another field', { id: 1 }],
  ])('do not match the operation with %s', async (_, changes) => {
    const options = creator(embedding.tenant(), { [field]: [{ ...definition, ...(changes as object) }] });
    expect(await embedding.refusal(options)).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('are audited if they create or change something', async () => {
    const tenant = embedding.tenant();
    for (const description of ['First', 'First', 'Second'])
      await embedding.mint(creator(tenant, { [field]: [{ ...definition, description }] }));
    const noun = field === 'userAttributeDefinitions' ? 'userAttribute' : 'embedGroup';
    const entries = await embedding.rows(
      `select l.before->>'description' as before, l.after->>'description' as after, l.user_id, l.api_key_id
       from audit_log l where resource_type = $1 and resource_id in (
         select id::text from user_groups where embed_tenant = $2
         union all select id::text from user_attributes where embed_tenant = $2) order by l.id`,
      [noun, tenant],
    );
    const { id } = await embedding.world.admin.getMe();
    const by = { user_id: id, api_key_id: expect.any(Number) };
    expect(entries).toMatchObject([
      { before: null, after: 'First', ...by },
      { before: 'First', after: 'Second', ...by },
    ]);
  });
});

test('definitions are stored before the groups and attributes that name them are checked', async () => {
  const seen = await embedding.see(
    creator(embedding.tenant(), {
      groupDefinitions: [{ name: 'editors' }],
      tenantGroupDefinitions: [{ name: 'staff' }],
      userAttributeDefinitions: [{ name: 'region', type: 'string_array' }],
      groups: ['editors'],
      tenantGroups: ['staff'],
      userAttributes: [{ name: 'region', value: ['EU', 'US'] }],
    }),
  );
  expect(seen).toMatchObject({
    groups: ['editors'],
    tenantGroups: ['staff'],
    userAttributes: { region: ['EU', 'US'] },
  });
});

test('definitions change neither the account nor another tenant, even with the same names', async () => {
  const [here, there] = [embedding.tenant(), embedding.tenant()];
  const group = await embedding.accountGroup();
  const attribute = await embedding.accountAttribute('boolean', 'true');
  const define = (tenant: string, type: string, description: string) =>
    embedding.mint(
      creator(tenant, {
        groupDefinitions: [{ name: group, description }],
        userAttributeDefinitions: [{ name: attribute, type, description }],
      }),
    );
  const account = async () => [
    await embedding.rows('select * from user_groups where embed_tenant is null order by id'),
    await embedding.rows('select * from user_attributes where embed_tenant is null order by id'),
  ];
  const before = await account();
  await define(there, 'number', 'There');
  await define(here, 'string', 'Here');
  expect(await account()).toEqual(before);
  expect(await groupsOf(there)).toEqual([{ name: group, description: 'There' }]);
  expect(await attributesOf(there)).toMatchObject([
    { name: attribute, type: 'number', description: 'There' },
  ]);
  expect(await attributesOf(here)).toMatchObject([{ name: attribute, type: 'string', description: 'Here' }]);
});

test('an attribute cannot change its type, and a call that tries stores nothing', async () => {
  const [tenant, externalId] = [embedding.tenant(), unique('ada')];
  await embedding.mint(
    creator(tenant, { userAttributeDefinitions: [{ name: 'region', type: 'string', description: 'Old' }] }),
  );
  const before = [await groupsOf(tenant), await attributesOf(tenant)];
  const audited = await embedding.rows('select count(*) from audit_log');
  const refusal = await embedding.refusal(
    creator(tenant, {
      externalId,
      groupDefinitions: [{ name: 'editors' }],
      tenantGroupDefinitions: [{ name: 'staff' }],
      userAttributeDefinitions: [
        { name: 'another', type: 'number' },
        { name: 'region', type: 'string_array', description: 'New' },
        { name: 'zone', type: 'number' },
      ],
      embedTenantProfile: { displayName: 'Renamed' },
    }),
  );
  expect(refusal).toMatchObject({
    status: 400,
    code: 'attribute_type_conflict',
    message: expect.stringMatching(/region.*cannot change type/),
    issues: [{ path: 'userAttributeDefinitions[1].type' }],
  });
  expect([await groupsOf(tenant), await attributesOf(tenant)]).toEqual(before);
  expect(await embedding.rows('select count(*) from audit_log')).toEqual(audited);
  expect(await embedding.rows('select from users where external_id = $1', [externalId])).toEqual([]);
  expect(await embedding.rows('select display_name from embed_tenants where name = $1', [tenant])).toEqual([
    { display_name: null },
  ]);
});

test('the display name and default of an attribute are updated if they are given and differ', async () => {
  const tenant = embedding.tenant();
  const define = async (changes: object) => {
    const userAttributeDefinitions = [{ name: 'tier', type: 'number', ...changes }];
    await embedding.mint(creator(tenant, { userAttributeDefinitions }));
    const [{ display_name, default_value }] = (await attributesOf(tenant)) as [
      { display_name: string | null; default_value: string | null },
    ];
    return [display_name, default_value];
  };
  expect(await define({})).toEqual([null, null]);
  expect(await define({ displayName: 'Tier', defaultValue: '1' })).toEqual(['Tier', '1']);
  expect(await define({})).toEqual(['Tier', '1']);
  expect(await define({ displayName: null, defaultValue: null })).toEqual(['Tier', '1']);
  expect(await define({ defaultValue: '2' })).toEqual(['Tier', '2']);
  expect(await define({ displayName: 'Level' })).toEqual(['Level', '2']);
});

test.each([
  ['string', 'anything', 'anything'],
  ['string', '', ''],
  ['number', '5', 5],
  ['number', '-0.5', -0.5],
  ['string_array', '["EU"]', ['EU']],
  ['string_array', '[]', []],
  ['number_array', '[1,2]', [1, 2]],
])('a %s accepts the default %j', async (type, defaultValue, shown) => {
  const userAttributeDefinitions = [{ name: 'thing', type, defaultValue }];
  const seen = await embedding.see(creator(embedding.tenant(), { userAttributeDefinitions }));
  expect(seen.userAttributes.thing).toEqual(shown);
});

test.each([
  ['number', ''],
  ['number', 'five'],
  ['number', '"5"'],
  ['number', 'null'],
  ['number', '1e400'],
  ['number', 'NaN'],
  ['string_array', 'EU'],
  ['string_array', '[1]'],
  ['string_array', '["EU", null]'],
  ['number_array', '5'],
  ['number_array', '["5"]'],
  ['number_array', '[1e400]'],
])('a %s refuses the default %j', async (type, defaultValue) => {
  const userAttributeDefinitions = [{ name: 'thing', type, defaultValue }];
  expect(await embedding.refusal(creator(embedding.tenant(), { userAttributeDefinitions }))).toMatchObject({
    status: 400,
    code: 'invalid_default_value',
    message: expect.stringContaining('thing'),
    issues: [{ path: 'userAttributeDefinitions[0].defaultValue' }],
  });
});

test.each(['boolean', 'text', '', null, undefined])(
  'a session cannot define an attribute of type %j',
  async (type) => {
    const userAttributeDefinitions = [{ name: 'thing', type }];
    expect(await embedding.refusal(creator(embedding.tenant(), { userAttributeDefinitions }))).toMatchObject({
      status: 400,
      code: 'invalid_request',
      issues: expect.arrayContaining([
        { path: 'userAttributeDefinitions[0].type', message: expect.any(String) },
      ]),
    });
  },
);

test('many parallel calls with the same definitions all succeed, and each definition is created once', async () => {
  const tenant = embedding.tenant();
  const options = creator(tenant, {
    externalId: unique('ada'),
    groupDefinitions: [{ name: 'b' }, { name: 'a' }],
    tenantGroupDefinitions: [{ name: 'a' }],
    userAttributeDefinitions: [{ name: 'region', type: 'string' }],
    groups: ['a', 'b'],
    userAttributes: [{ name: 'region', value: 'EU' }],
  });
  const minted = await Promise.all(Array.from({ length: 12 }, () => embedding.mint(options)));
  expect(new Set(minted).size).toBe(12);
  expect(await groupsOf(tenant)).toHaveLength(2);
  expect(await attributesOf(tenant)).toHaveLength(1);
  expect(await embedding.rows('select from users where external_id = $1', [options.externalId])).toHaveLength(
    1,
  );
  expect(await embedding.rows(`select from audit_log where after->>'name' = $1`, [tenant])).toHaveLength(1);
});
