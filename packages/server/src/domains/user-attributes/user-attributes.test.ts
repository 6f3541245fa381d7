import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const UNKNOWN = 999_999_999;
const MISSING = { status: 404, code: 'user_attribute_not_found' };
const INVALID = { status: 400, code: 'invalid_request' };
const BAD_DEFAULT = { status: 400, code: 'invalid_default_value' };

const newAttribute = (changes: object = {}) =>
  world.admin.createUserAttribute({ body: { name: unique('attribute'), type: 'string', ...changes } });

const list = (name: string) => world.admin.getUserAttributes({ name });
const query = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;
const count = async () => Number((await query('select count(*) from user_attributes'))[0].count);

/** Creates an attribute of an embed tenant, as sessions in creator mode do. */
async function tenantAttribute(name: string): Promise<number> {
  const tenant = unique('tenant');
  await query('insert into embed_tenants (name) values ($1)', [tenant]);
  const [row] = await query(
    "insert into user_attributes (embed_tenant, name, type) values ($1, $2, 'string') returning id",
    [tenant, name],
  );
  return row.id;
}

test('an attribute is created, listed, changed and deleted', async () => {
  const name = unique('Région 🌍');
  const about = { displayName: 'Region', defaultValue: 'EU', description: 'Where they sell' };
  const created = await newAttribute({ name, ...about });
  expect(created).toEqual({ id: created.id, name, type: 'string', ...about });
  expect(await list(name)).toMatchObject({ count: 1, data: [created] });

  const change = (body: object) => world.admin.updateUserAttribute({ id: created.id, body });
  expect(await change({ displayName: 'Regions' })).toEqual({ ...created, displayName: 'Regions' });
  expect(await change({})).toEqual({ ...created, displayName: 'Regions' });
  const nothing = { displayName: null, defaultValue: null, description: null };
  expect(await change(nothing)).toEqual({ ...created, ...nothing });
  expect(await list(name)).toMatchObject({ count: 1, data: [{ ...created, ...nothing }] });

  expect(await world.admin.deleteUserAttribute({ id: created.id })).toBeUndefined();
  expect(await list(name)).toMatchObject({ count: 0, data: [] });
  await expect(change({})).rejects.toMatchObject(MISSING);
  await expect(world.admin.deleteUserAttribute({ id: created.id })).rejects.toMatchObject(MISSING);
});

test('each change is in the audit log', async () => {
  const { id } = await newAttribute();
  await world.admin.updateUserAttribute({ id, body: { defaultValue: 'EU' } });
  await world.admin.deleteUserAttribute({ id });
  const entries = await query(
    "select operation, before, after from audit_log where resource_type = 'userAttribute' and resource_id = $1 order by id",
    [String(id)],
  );
  expect(entries).toMatchObject([
    { operation: 'createUserAttribute', before: null, after: { defaultValue: null } },
    { operation: 'updateUserAttribute', before: { defaultValue: null }, after: { defaultValue: 'EU' } },
    { operation: 'deleteUserAttribute', before: { defaultValue: 'EU' }, after: null },
  ]);
});

test('the path of the collection works with and without a slash at the end', async () => {
  for (const path of ['/api/v1/user-attributes', '/api/v1/user-attributes/']) {
    expect((await world.raw('GET', path)).status).toBe(200);
    const created = await world.raw('POST', path, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: unique('slash'), type: 'number' }),
    });
    expect(created.status).toBe(200);
  }
});

test('two attributes cannot have the same name, even with different types', async () => {
  const { name } = await newAttribute();
  const taken = { status: 409, code: 'attribute_name_taken' };
  await expect(newAttribute({ name })).rejects.toMatchObject(taken);
  await expect(newAttribute({ name, type: 'number' })).rejects.toMatchObject(taken);
  expect(await newAttribute({ name: name.toUpperCase() })).toMatchObject({ name: name.toUpperCase() });
});

test('of many parallel calls for one name, one succeeds', async () => {
  const name = unique('wanted');
  const attempts = Array.from({ length: 10 }, () =>
    newAttribute({ name }).then(
      () => 'created',
      (error) => error.code,
    ),
  );
  const outcomes = (await Promise.all(attempts)).sort();
  expect(outcomes).toEqual([...Array(9).fill('attribute_name_taken'), 'created']);
});

test('an attribute of an embed tenant is not listed, and its name can be used', async () => {
  const name = unique('scoped');
  const id = await tenantAttribute(name);
  expect(await list(name)).toMatchObject({ count: 0, data: [] });
  const change = world.admin.updateUserAttribute({ id, body: { description: 'ours' } });
  await expect(change).rejects.toMatchObject(MISSING);
  await expect(world.admin.deleteUserAttribute({ id })).rejects.toMatchObject(MISSING);
  expect(await query('select description from user_attributes where id = $1', [id])).toEqual([
    { description: null },
  ]);
  expect(await newAttribute({ name })).toMatchObject({ name });
});

test('a default that does not fit the type is refused, and nothing changes', async () => {
  const before = await count();
  const name = unique('tier');
  await expect(newAttribute({ name, type: 'number', defaultValue: 'three' })).rejects.toMatchObject({
    ...BAD_DEFAULT,
    message: expect.stringContaining(name),
    issues: [{ path: 'defaultValue' }],
  });
  expect(await count()).toBe(before);

  const tier = await newAttribute({ name, type: 'number', defaultValue: '3' });
  const change = (defaultValue: string) =>
    world.admin.updateUserAttribute({ id: tier.id, body: { defaultValue, description: 'changed' } });
  await expect(change('["3"]')).rejects.toMatchObject({
    ...BAD_DEFAULT,
    message: expect.stringContaining(name),
  });
  expect((await list(name)).data).toEqual([tier]);
  expect(await change('4')).toMatchObject({ defaultValue: '4' });
});

const BAD_FIELDS: [string, object][] = [
  ['a display name of 256 characters', { displayName: 'x'.repeat(256) }],
  ['a description of 1001 characters', { description: 'x'.repeat(1001) }],
  ['a default of 10,001 characters', { defaultValue: 'x'.repeat(10_001) }],
  ['a default that is not text', { defaultValue: 3 }],
  ['an id', { id: 3 }],
];

test.each<[string, object]>([
  ['no name', { name: undefined }],
  ['an empty name', { name: '' }],
  ['a blank name', { name: ' \t ' }],
  ['a name of 256 characters', { name: 'x'.repeat(256) }],
  ['a name with a control character', { name: 'a\u001bb' }],
  ['null for a name', { name: null }],
  ['no type', { type: undefined }],
  ['null for a type', { type: null }],
  ['an unknown type', { type: 'date' }],
  ['a type in capitals', { type: 'String' }],
  ...BAD_FIELDS,
])('bad input is refused: %s', async (_, changes) => {
  const before = await count();
  await expect(newAttribute(changes)).rejects.toMatchObject(INVALID);
  expect(await count()).toBe(before);
});

test.each<[string, object]>([
  ['a type, which is for good', { type: 'number' }],
  ['a name, which is for good', { name: 'other' }],
  ...BAD_FIELDS,
])('bad input changes nothing: %s', async (_, body) => {
  const attribute = await newAttribute();
  const attempt = world.admin.updateUserAttribute({ id: attribute.id, body: body as never });
  await expect(attempt).rejects.toMatchObject(INVALID);
  expect((await list(attribute.name)).data).toEqual([attribute]);
});

describe('lists', () => {
  let ids: number[];
  beforeAll(async () => {
    await query('delete from user_attributes');
    ids = [];
    for (const type of ['string', 'number', 'string', 'boolean', 'string']) {
      ids.push((await newAttribute({ type })).id);
    }
  });
  const idsOf = async (args: object) => {
    const { count: matching, data } = await world.admin.getUserAttributes(args);
    return [matching, ...data.map(({ id }) => id)];
  };
  const at = async (search: string) => world.raw('GET', `/api/v1/user-attributes?${search}`);

  test('have pages by offset in the order of ids, and count all that match', async () => {
    expect(await idsOf({})).toEqual([5, ...ids]);
    expect(await idsOf({ limit: 2 })).toEqual([5, ...ids.slice(0, 2)]);
    expect(await idsOf({ limit: 2, offset: 3 })).toEqual([5, ...ids.slice(3)]);
    expect(await idsOf({ offset: 5 })).toEqual([5]);
    expect(await idsOf({ offset: Number.MAX_SAFE_INTEGER })).toEqual([5]);
    expect(await idsOf({ limit: 0 })).toEqual([5]);
    expect(await idsOf({ limit: 1000 })).toEqual([5, ...ids]);
  });

  test('have pages by cursor; pages by offset have no cursors, and the two cannot be mixed', async () => {
    const first = await world.admin.getUserAttributes({ type: 'string', first: 2 });
    expect(first).toMatchObject({
      count: 3,
      items: [{ id: ids[0] }, { id: ids[2] }],
      pageInfo: { hasNextPage: true },
    });
    const after = first.pageInfo!.endCursor!;
    const second = await world.admin.getUserAttributes({ type: 'string', first: 2, after });
    expect(second).toMatchObject({ count: 3, items: [{ id: ids[4] }], pageInfo: { hasNextPage: false } });
    expect((await world.admin.getUserAttributes({ limit: 2 })).pageInfo).toBeNull();
    for (const older of [{ offset: 1 }, { limit: 2 }]) {
      await expect(world.admin.getUserAttributes({ first: 2, ...older })).rejects.toMatchObject({
        status: 400,
        code: 'mixed_pagination',
      });
    }
  });

  test('filter by type and by exact name', async () => {
    expect(await idsOf({ type: 'string', limit: 2 })).toEqual([3, ids[0], ids[2]]);
    expect(await idsOf({ type: 'number_array' })).toEqual([0]);
    const { name } = (await world.admin.getUserAttributes({ limit: 1 })).data[0]!;
    expect(await idsOf({ name })).toEqual([1, ids[0]]);
    expect(await idsOf({ name, type: 'number' })).toEqual([0]);
    expect(await idsOf({ name: name.slice(0, -1) })).toEqual([0]);
    expect(await idsOf({ name: '%' })).toEqual([0]);
  });

  test.each(['offset=&limit=&name=&type=', 'offset=null&limit=null&name=null&type=null', 'unknown=1'])(
    'ignore parameters that are empty, null or unknown: %s',
    async (search) => {
      expect(await (await at(search)).json()).toMatchObject({ count: 5, data: { length: 5 } });
    },
  );

  test.each([
    'limit=-1',
    'limit=1001',
    'limit=1.5',
    'limit=ten',
    'limit=1&limit=2',
    'offset=-1',
    'offset=x',
    'offset=9007199254740993',
    `offset=${'9'.repeat(400)}`,
    'offset=1&offset=1',
    'name=a&name=b',
    'type=date',
    'type=string&type=number',
    'name=%00',
  ])('bad parameters are a 400: %s', async (search) => {
    expect((await at(search)).status).toBe(400);
  });
});

test('only admins can read and change them, and scoped keys cannot change them', async () => {
  const { id } = await newAttribute();
  const { client } = await world.person({ roles: ['Developer'] });
  const forbidden = { status: 403, code: 'forbidden' };
  await expect(client.getUserAttributes()).rejects.toMatchObject(forbidden);
  await expect(client.deleteUserAttribute({ id })).rejects.toMatchObject(forbidden);

  const { id: deploymentId } = await world.deployment();
  const scoped = (await world.person({ roles: ['Admin'], deploymentIds: [deploymentId] })).client;
  expect((await scoped.getUserAttributes()).count).toBeGreaterThan(0);
  await expect(scoped.deleteUserAttribute({ id })).rejects.toMatchObject({
    status: 403,
    code: 'outside_key_scope',
  });
  await expect(world.admin.deleteUserAttribute({ id: UNKNOWN })).rejects.toMatchObject(MISSING);
});
