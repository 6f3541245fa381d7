import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const UNKNOWN = 999_999_999;
const MISSING = { status: 404, code: 'group_not_found' };

const newGroup = (changes: object = {}) =>
  world.admin.createUserGroup({ body: { name: unique('group'), ...changes } });

const newUsers = async (count: number) => {
  const ids: number[] = [];
  for (let i = 0; i < count; i++) {
    const username = unique('member');
    const { id } = await world.admin.createUser({ body: { username, email: `${username}@example.com` } });
    ids.push(id);
  }
  return ids;
};

const memberIds = async (id: number) =>
  (await world.admin.getUserGroupMembers({ id, first: 1000 })).items.map((member) => member.id);

const count = async (table: string) =>
  Number((await world.server.db.pool.query(`select count(*) from ${table}`)).rows[0].count);

test('a group is created, found, listed, changed and deleted', async () => {
  const name = unique('Sales 🚀');
  const created = await newGroup({ name, description: 'They sell' });
  expect(created).toEqual({ id: created.id, name, description: 'They sell', userCount: 0 });
  expect(await world.admin.getUserGroup({ id: created.id })).toEqual(created);
  expect((await world.admin.listUserGroups({ first: 1000 })).items).toContainEqual(created);

  const renamed = await world.admin.updateUserGroup({ id: created.id, body: { name: `${name}!` } });
  expect(renamed).toEqual({ ...created, name: `${name}!` });
  expect(await world.admin.updateUserGroup({ id: created.id, body: {} })).toEqual(renamed);
  const cleared = await world.admin.updateUserGroup({ id: created.id, body: { description: null } });
  expect(cleared).toEqual({ ...renamed, description: null });

  expect(await world.admin.deleteUserGroup({ id: created.id })).toBeUndefined();
  await expect(world.admin.getUserGroup({ id: created.id })).rejects.toMatchObject(MISSING);
  await expect(world.admin.deleteUserGroup({ id: created.id })).rejects.toMatchObject(MISSING);
});

test('two groups cannot have the same name', async () => {
  const taken = { status: 409, code: 'group_name_taken' };
  const [one, two] = [await newGroup(), await newGroup()];
  await expect(newGroup({ name: one.name })).rejects.toMatchObject(taken);
  const rename = (name: string) => world.admin.updateUserGroup({ id: two.id, body: { name } });
  await expect(rename(one.name)).rejects.toMatchObject(taken);
  expect(await rename(two.name)).toEqual(two);
});

test('of many parallel calls for one name, one succeeds', async () => {
  const name = unique('wanted');
  const attempts = Array.from({ length: 10 }, () =>
    newGroup({ name }).then(
      () => 'created',
      (error) => error.code,
    ),
  );
  const outcomes = (await Promise.all(attempts)).sort();
  expect(outcomes).toEqual(['created', ...Array(9).fill('group_name_taken')].sort());
});

const BAD_FIELDS: [string, object][] = [
  ['an empty name', { name: '' }],
  ['a blank name', { name: ' \t ' }],
  ['a name of 101 characters', { name: 'x'.repeat(101) }],
  ['a name that is reserved', { name: 'system:admins' }],
  ['a name with a control character', { name: 'a\u001bb' }],
  ['null for a name', { name: null }],
  ['a name that is not text', { name: ['x'] }],
  ['a description of 1001 characters', { description: 'x'.repeat(1001) }],
  ['a number of users', { userCount: 3 }],
];

test.each<[string, object]>([['no name', { name: undefined }], ...BAD_FIELDS])(
  'bad input is refused: %s',
  async (_, changes) => {
    const before = await count('user_groups');
    await expect(newGroup(changes)).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
    expect(await count('user_groups')).toBe(before);
  },
);

test.each(BAD_FIELDS)('bad input changes nothing: %s', async (_, body) => {
  const group = await newGroup();
  const attempt = world.admin.updateUserGroup({ id: group.id, body: body as never });
  await expect(attempt).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  expect(await world.admin.getUserGroup({ id: group.id })).toEqual(group);
});

test('a name can have up to 100 characters of any script', async () => {
  const name = '🦊'.repeat(100);
  expect(await newGroup({ name })).toMatchObject({ name });
});

test('members are added and removed, and counted', async () => {
  const { id } = await newGroup();
  const [one, two, three] = (await newUsers(3)) as [number, number, number];
  expect(await world.admin.addUserGroupMembers({ id, body: { userIds: [two, one] } })).toMatchObject({
    id,
    userCount: 2,
  });
  expect(await world.admin.addUserGroupMembers({ id, body: { userIds: [one, three] } })).toMatchObject({
    userCount: 3,
  });
  expect(await memberIds(id)).toEqual([one, two, three]);

  const removal = { id, body: { userIds: [two, UNKNOWN] } };
  expect(await world.admin.removeUserGroupMembers(removal)).toBeUndefined();
  await world.admin.removeUserGroupMembers(removal);
  expect(await memberIds(id)).toEqual([one, three]);
  expect(await world.admin.getUserGroup({ id })).toMatchObject({ userCount: 2 });
  const listed = (await world.admin.listUserGroups({ first: 1000 })).items.find((group) => group.id === id);
  expect(listed).toMatchObject({ userCount: 2 });
  expect(await world.admin.updateUserGroup({ id, body: {} })).toMatchObject({ userCount: 2 });
});

test('a member is shown with name and email, and without secrets', async () => {
  const username = unique('grace');
  const email = `${username}@example.com`;
  const profile = { username, email, firstName: 'Grace', picture: 'https://example.com/grace.png' };
  const { id: userId } = await world.admin.createUser({ body: { ...profile, password: 'a long password' } });
  const { id } = await newGroup();
  await world.admin.addUserGroupMembers({ id, body: { userIds: [userId] } });
  expect((await world.admin.getUserGroupMembers({ id })).items).toEqual([{ id: userId, ...profile }]);
});

test('nobody is added if one of the users does not exist', async () => {
  const { id } = await newGroup();
  const [known] = await newUsers(1);
  const attempt = world.admin.addUserGroupMembers({ id, body: { userIds: [known!, UNKNOWN] } });
  await expect(attempt).rejects.toMatchObject({
    status: 400,
    code: 'invalid_reference',
    message: expect.stringContaining(String(UNKNOWN)),
  });
  expect(await memberIds(id)).toEqual([]);
});

test.each([
  ['no users', {}],
  ['an empty list', { userIds: [] }],
  ['null', { userIds: null }],
  ['a user twice', { userIds: [1, 1] }],
  ['an id of 0', { userIds: [0] }],
  ['an id as text', { userIds: ['1'] }],
  ['an id with a fraction', { userIds: [1.5] }],
  ['more than 1000 users', { userIds: Array.from({ length: 1001 }, (_, i) => i + 1) }],
  ['a field that does not exist', { userIds: [1], role: 'Admin' }],
])('bad members are refused: %s', async (_, body) => {
  const { id } = await newGroup();
  const refused = { status: 400, code: 'invalid_request' };
  const args = { id, body: body as never };
  await expect(world.admin.addUserGroupMembers(args)).rejects.toMatchObject(refused);
  await expect(world.admin.removeUserGroupMembers(args)).rejects.toMatchObject(refused);
  expect(await memberIds(id)).toEqual([]);
});

test('parallel additions of the same users add each of them once', async () => {
  const { id } = await newGroup();
  const userIds = await newUsers(4);
  await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      world.admin.addUserGroupMembers({ id, body: { userIds: i % 2 ? userIds : [...userIds].reverse() } }),
    ),
  );
  expect(await memberIds(id)).toEqual(userIds);
  expect(await world.admin.getUserGroup({ id })).toMatchObject({ userCount: 4 });
});

test('after parallel additions and a deletion, the group is gone', async () => {
  const { id } = await newGroup();
  const userIds = await newUsers(2);
  const add = () =>
    world.admin.addUserGroupMembers({ id, body: { userIds } }).then(
      () => 'added',
      (error) => error.code,
    );
  const outcomes = await Promise.all([add(), add(), world.admin.deleteUserGroup({ id }), add(), add()]);
  for (const outcome of outcomes) expect(['added', undefined, 'group_not_found']).toContain(outcome);
  await expect(world.admin.getUserGroup({ id })).rejects.toMatchObject(MISSING);
});

test('deleting a group does not change other groups, and deleting a user removes them from their groups', async () => {
  const [kept, other] = [await newGroup(), await newGroup()];
  const [stays, goes] = (await newUsers(2)) as [number, number];
  for (const { id } of [kept, other])
    await world.admin.addUserGroupMembers({ id, body: { userIds: [stays, goes] } });
  await world.admin.deleteUserGroup({ id: other.id });
  expect(await memberIds(kept.id)).toEqual([stays, goes]);
  await world.admin.deleteUser({ id: goes });
  expect(await memberIds(kept.id)).toEqual([stays]);
  expect(await world.admin.getUserGroup({ id: kept.id })).toMatchObject({ userCount: 1 });
});

test('a group that does not exist is not found', async () => {
  const id = UNKNOWN;
  const body = { userIds: [1] };
  await expect(world.admin.getUserGroup({ id })).rejects.toMatchObject(MISSING);
  await expect(world.admin.updateUserGroup({ id, body: {} })).rejects.toMatchObject(MISSING);
  await expect(world.admin.deleteUserGroup({ id })).rejects.toMatchObject(MISSING);
  await expect(world.admin.getUserGroupMembers({ id })).rejects.toMatchObject(MISSING);
  await expect(world.admin.addUserGroupMembers({ id, body })).rejects.toMatchObject(MISSING);
  await expect(world.admin.removeUserGroupMembers({ id, body })).rejects.toMatchObject(MISSING);
});

test('only admins can see and change groups', async () => {
  const { id } = await newGroup();
  const { client, userId } = await world.person({ roles: ['Developer'] });
  await world.admin.addUserGroupMembers({ id, body: { userIds: [userId] } });
  const forbidden = { status: 403, code: 'forbidden' };
  const body = { userIds: [userId] };
  await expect(client.listUserGroups()).rejects.toMatchObject(forbidden);
  await expect(client.getUserGroup({ id })).rejects.toMatchObject(forbidden);
  await expect(client.createUserGroup({ body: { name: 'x' } })).rejects.toMatchObject(forbidden);
  await expect(client.updateUserGroup({ id, body: {} })).rejects.toMatchObject(forbidden);
  await expect(client.deleteUserGroup({ id })).rejects.toMatchObject(forbidden);
  await expect(client.getUserGroupMembers({ id })).rejects.toMatchObject(forbidden);
  await expect(client.addUserGroupMembers({ id, body })).rejects.toMatchObject(forbidden);
  await expect(client.removeUserGroupMembers({ id, body })).rejects.toMatchObject(forbidden);
});

test('a scoped key can read groups but not change them', async () => {
  const group = await newGroup();
  const { id: deploymentId } = await world.deployment();
  const { client, userId } = await world.person({ roles: ['Admin'], deploymentIds: [deploymentId] });
  const { id } = group;
  expect(await client.getUserGroup({ id })).toEqual(group);
  const refused = { status: 403, code: 'outside_key_scope' };
  const body = { userIds: [userId] };
  await expect(client.createUserGroup({ body: { name: 'x' } })).rejects.toMatchObject(refused);
  await expect(client.updateUserGroup({ id, body: {} })).rejects.toMatchObject(refused);
  await expect(client.deleteUserGroup({ id })).rejects.toMatchObject(refused);
  await expect(client.addUserGroupMembers({ id, body })).rejects.toMatchObject(refused);
  await expect(client.removeUserGroupMembers({ id, body })).rejects.toMatchObject(refused);
});

test('each change of a group is in the audit log, and calls that change nothing are not', async () => {
  const created = await newGroup();
  const { id } = created;
  const [one, two] = (await newUsers(2)) as [number, number];
  const add = (userIds: number[]) => world.admin.addUserGroupMembers({ id, body: { userIds } });
  const remove = (userIds: number[]) => world.admin.removeUserGroupMembers({ id, body: { userIds } });
  await add([one]);
  await add([two, one]);
  await add([one]);
  await remove([one, UNKNOWN]);
  await remove([one]);
  const changed = await world.admin.updateUserGroup({ id, body: { description: 'new' } });
  await world.admin.deleteUserGroup({ id });
  const { rows } = await world.server.db.pool.query(
    `select operation, before, after from audit_log
     where resource_type = 'userGroup' and resource_id = $1 order by id`,
    [String(id)],
  );
  expect(rows).toEqual([
    { operation: 'createUserGroup', before: null, after: created },
    {
      operation: 'addUserGroupMembers',
      before: { userCount: 0 },
      after: { userCount: 1, addedUserIds: [one] },
    },
    {
      operation: 'addUserGroupMembers',
      before: { userCount: 1 },
      after: { userCount: 2, addedUserIds: [two] },
    },
    {
      operation: 'removeUserGroupMembers',
      before: { userCount: 2 },
      after: { userCount: 1, removedUserIds: [one] },
    },
    {
      operation: 'updateUserGroup',
      before: { description: created.description },
      after: { description: 'new' },
    },
    { operation: 'deleteUserGroup', before: changed, after: null },
  ]);
});

test('the iterators return all groups and all members', async () => {
  const { id } = await newGroup();
  for (let i = 0; i < 3; i++) await newGroup();
  const groups: number[] = [];
  for await (const group of world.admin.iterate.listUserGroups({ first: 2 })) groups.push(group.id);
  expect(groups).toEqual((await world.admin.listUserGroups({ first: 1000 })).items.map((group) => group.id));

  const userIds = await newUsers(5);
  await world.admin.addUserGroupMembers({ id, body: { userIds } });
  const members: number[] = [];
  for await (const member of world.admin.iterate.getUserGroupMembers({ id, first: 2 }))
    members.push(member.id);
  expect(members).toEqual(userIds);
});

test('a cursor is valid only for the members of one group', async () => {
  const [one, two] = [await newGroup(), await newGroup()];
  const body = { userIds: await newUsers(2) };
  await world.admin.addUserGroupMembers({ id: one.id, body });
  const { pageInfo } = await world.admin.getUserGroupMembers({ id: one.id, first: 1 });
  expect(pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  const attempt = world.admin.getUserGroupMembers({ id: two.id, after: pageInfo.endCursor! });
  await expect(attempt).rejects.toMatchObject({ status: 400, code: 'invalid_cursor' });
});

test('a group can be deleted at both of its addresses', async () => {
  const { id } = await world.admin.createUserGroup({ body: { name: unique('group') } });
  expect(await world.admin.deleteUserGroupAtGroups({ id })).toBeUndefined();
  const missing = { status: 404, code: 'group_not_found' };
  await expect(world.admin.getUserGroup({ id })).rejects.toMatchObject(missing);
  await expect(world.admin.deleteUserGroupAtGroups({ id })).rejects.toMatchObject(missing);
});
