import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const UNKNOWN = 999_999_999;
const ALL = [
  ['string', 'EU', 'US'],
  ['number', 3, 0],
  ['boolean', true, false],
  ['string_array', ['EU', 'US'], []],
  ['number_array', [1, 2.5], []],
] as const;

const query = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;

const newAttribute = (type: string, changes: object = {}) =>
  world.admin.createUserAttribute({ body: { name: unique(type), type, ...changes } as never });

async function newPerson(): Promise<number> {
  const username = unique('person');
  const email = `${username}@example.com`;
  return (await world.admin.createUser({ body: { username, email } })).id;
}

async function newExternalUser(): Promise<number> {
  const tenant = unique('tenant');
  await query('insert into embed_tenants (name) values ($1)', [tenant]);
  const [user] = await query(
    "insert into users (username, external_id, embed_tenant) values ('viewer', 'viewer', $1) returning id",
    [tenant],
  );
  return user.id;
}

const put = (userId: number, userAttributeId: number, value?: unknown) =>
  world.admin.upsertUserAttributeValue({
    body: { userId: String(userId), userAttributeId: String(userAttributeId), value: value as never },
  });

/** The value and the formatted value of one attribute in the user's list. */
async function valuesOf(userId: number, userAttributeId: number) {
  const values = await world.admin.getUserAttributeValues({ userId });
  const found = values.find((value) => value.userAttributeId === userAttributeId)!;
  return [found.value, found.formattedValue];
}

test.each(ALL)('a value of type %s can be set, replaced and cleared', async (type, one, two) => {
  const { id, name } = await newAttribute(type, { displayName: 'Shown', description: 'Told' });
  for (const userId of [await newPerson(), await newExternalUser()]) {
    expect(await put(userId, id, one)).toEqual({
      userId,
      userAttributeId: id,
      name,
      type,
      displayName: 'Shown',
      description: 'Told',
      value: one,
      formattedValue: one,
    });
    expect(await valuesOf(userId, id)).toEqual([one, one]);
    await put(userId, id, two);
    expect(await valuesOf(userId, id)).toEqual([two, two]);
    expect(await put(userId, id, undefined)).toMatchObject({ value: null, formattedValue: null });
    expect(await valuesOf(userId, id)).toEqual([null, null]);
    await put(userId, id, two);
    expect(await put(userId, id, null)).toMatchObject({ value: null, formattedValue: null });
    expect(await put(userId, id, null)).toMatchObject({ value: null });
    expect(await valuesOf(userId, id)).toEqual([null, null]);
  }
});

test('the default is used if a user has no value', async () => {
  const { id } = await newAttribute('number_array', { defaultValue: '[1, 2]' });
  const userId = await newPerson();
  expect(await valuesOf(userId, id)).toEqual([null, [1, 2]]);
  expect(await put(userId, id, [])).toMatchObject({ value: [], formattedValue: [] });
  expect(await put(userId, id, null)).toMatchObject({ value: null, formattedValue: [1, 2] });
  await world.admin.updateUserAttribute({ id, body: { defaultValue: null } });
  expect(await valuesOf(userId, id)).toEqual([null, null]);
});

test('every attribute is listed once, in the order of ids, and a value belongs to one user only', async () => {
  const [a, b] = [await newAttribute('string'), await newAttribute('string')];
  const [one, two] = [await newPerson(), await newPerson()];
  await put(one, b.id, 'theirs');
  const { data } = await world.admin.getUserAttributes({ limit: 1000 });
  const values = await world.admin.getUserAttributeValues({ userId: one });
  expect(values.map(({ userAttributeId }) => userAttributeId)).toEqual(data.map(({ id }) => id));
  expect(values.every(({ userId }) => userId === one)).toBe(true);
  expect(await valuesOf(one, a.id)).toEqual([null, null]);
  expect(await valuesOf(two, b.id)).toEqual([null, null]);
});

test.each<[string, unknown]>([
  ['string', 3],
  ['string', ['EU']],
  ['string', {}],
  ['number', '3'],
  ['number', true],
  ['boolean', 'true'],
  ['boolean', 1],
  ['string_array', 'EU'],
  ['string_array', ['EU', 1]],
  ['string_array', ['EU', null]],
  ['string_array', [['EU']]],
  ['number_array', 3],
  ['number_array', [1, '2']],
  ['number_array', [{}]],
])('a %s cannot be %j, and the old value stays', async (type, value) => {
  const { id, name } = await newAttribute(type);
  const [userId, [, kept]] = [await newPerson(), ALL.find(([known]) => known === type)!];
  await put(userId, id, kept);
  await expect(put(userId, id, value)).rejects.toMatchObject({
    status: 400,
    code: 'attribute_value_mismatch',
    message: expect.stringContaining(name),
  });
  expect(await valuesOf(userId, id)).toEqual([kept, kept]);
});

test('a number that would be rounded is refused', async () => {
  const { id } = await newAttribute('number');
  const userId = await newPerson();
  const send = (number: string) =>
    world.raw('POST', '/api/v1/user-attribute-values/', {
      headers: { 'content-type': 'application/json' },
      body: `{"userId":${userId},"userAttributeId":${id},"value":${number}}`,
    });
  expect((await send('1e999')).status).toBe(400);
  expect((await send('9007199254740993')).status).toBe(400);
  expect((await send('1e15')).status).toBe(200);
  expect(await valuesOf(userId, id)).toEqual([1e15, 1e15]);
});

test('unknown users and attributes, and attributes of an embed tenant, are a 404', async () => {
  const { id } = await newAttribute('string');
  const userId = await newPerson();
  const noUser = { status: 404, code: 'user_not_found' };
  const noAttribute = { status: 404, code: 'user_attribute_not_found' };
  await expect(world.admin.getUserAttributeValues({ userId: UNKNOWN })).rejects.toMatchObject(noUser);
  for (const value of ['EU', null, undefined]) {
    await expect(put(UNKNOWN, id, value)).rejects.toMatchObject(noUser);
    await expect(put(userId, UNKNOWN, value)).rejects.toMatchObject(noAttribute);
  }
  const tenant = unique('tenant');
  await query('insert into embed_tenants (name) values ($1)', [tenant]);
  const [scoped] = await query(
    "insert into user_attributes (embed_tenant, name, type) values ($1, 'scoped', 'string') returning id",
    [tenant],
  );
  await expect(put(userId, scoped.id, 'EU')).rejects.toMatchObject(noAttribute);
  const values = await world.admin.getUserAttributeValues({ userId });
  expect(values.map(({ name }) => name)).not.toContain('scoped');
});

test('if there are no attributes, a user has no values, and an unknown user is still a 404', async () => {
  await query('delete from user_attributes where embed_tenant is null');
  expect(await world.admin.getUserAttributeValues({ userId: await newPerson() })).toEqual([]);
  await expect(world.admin.getUserAttributeValues({ userId: UNKNOWN })).rejects.toMatchObject({
    status: 404,
    code: 'user_not_found',
  });
});

test.each<[string, object]>([
  ['no user', { userId: undefined }],
  ['no attribute', { userAttributeId: undefined }],
  ['null for a user', { userId: null }],
  ['an empty id', { userId: '' }],
  ['an id of 0', { userId: 0 }],
  ['an id of 0 as text', { userAttributeId: '0' }],
  ['a negative id', { userAttributeId: -1 }],
  ['a negative id as text', { userAttributeId: '-1' }],
  ['an id with a fraction', { userId: 1.5 }],
  ['an id with a fraction as text', { userId: '1.5' }],
  ['an id in another notation', { userId: '1e3' }],
  ['an id with a space', { userId: ' 1' }],
  ['an id that is a name', { userAttributeId: 'region' }],
  ['an id beyond all ids as text', { userId: '9007199254740993' }],
  ['an id of a thousand digits', { userId: '9'.repeat(1000) }],
  ['several ids', { userId: [1] }],
  ['a text of 10,001 characters', { value: 'x'.repeat(10_001) }],
  ['a thousand and one texts', { value: Array(1001).fill('x') }],
  ['a text of 1001 characters among others', { value: ['x'.repeat(1001)] }],
])('bad input is refused: %s', async (_, changes) => {
  const { id } = await newAttribute('string');
  const body = { userId: String(await newPerson()), userAttributeId: String(id), value: 'EU', ...changes };
  const before = await query('select count(*) from user_attribute_values');
  await expect(world.admin.upsertUserAttributeValue({ body: body as never })).rejects.toMatchObject({
    status: 400,
    code: 'invalid_request',
  });
  expect(await query('select count(*) from user_attribute_values')).toEqual(before);
});

test('values are deleted with their attribute and with their user', async () => {
  const [a, b] = [await newAttribute('string'), await newAttribute('string')];
  const [one, two] = [await newPerson(), await newPerson()];
  for (const userId of [one, two]) for (const { id } of [a, b]) await put(userId, id, 'EU');
  const left = () =>
    query(
      'select user_id, attribute_id from user_attribute_values where attribute_id in ($1, $2) order by 1, 2',
      [a.id, b.id],
    );
  await world.admin.deleteUserAttribute({ id: a.id });
  expect(await left()).toEqual([one, two].map((user_id) => ({ user_id, attribute_id: b.id })));
  await world.admin.deleteUser({ id: one });
  await expect.poll(left).toEqual([{ user_id: two, attribute_id: b.id }]);
});

test('parallel changes of one value are audited one after another, and the last one stays', async () => {
  const { id } = await newAttribute('number');
  const userId = await newPerson();
  await Promise.all([1, 2, 3, 4, 5].map((value) => put(userId, id, value)));
  const entries = await query(
    "select before->'value' as before, after->'value' as after from audit_log where resource_type = 'userAttributeValue' and resource_id = $1 order by id",
    [`${userId}/${id}`],
  );
  expect(entries).toHaveLength(5);
  const last = entries.at(-1)!.after;
  expect(entries.map(({ before }) => before)).toEqual([
    null,
    ...entries.slice(0, -1).map(({ after }) => after),
  ]);
  expect(await valuesOf(userId, id)).toEqual([last, last]);
});

test('an attribute that is deleted while values are written leaves no values, and no call is a 500', async () => {
  const { id } = await newAttribute('number');
  const users = [await newPerson(), await newPerson(), await newPerson()];
  const outcomes = await Promise.all([
    ...users.map((userId) =>
      put(userId, id, 1).then(
        () => 'written',
        (error) => error.code,
      ),
    ),
    world.admin.deleteUserAttribute({ id }),
  ]);
  for (const outcome of outcomes)
    expect(['written', 'user_attribute_not_found', undefined]).toContain(outcome);
  expect(await query('select from user_attribute_values where attribute_id = $1', [id])).toEqual([]);
});
