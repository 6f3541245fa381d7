import { afterAll, beforeAll, expect, test } from 'vitest';
import { newTenant, newViewers, type Viewer } from '../../../test/embed-tenants.ts';
import { createOwnWorld, createWorld, unique, type World } from '../../../test/world.ts';

/** The account's own tenant if ORIEL_TENANT is not set. */
const OWN = 'oriel';
const UNKNOWN = 999_999_999;
const MISSING = { status: 404, code: 'group_not_found' };
const NO_TENANT = { status: 404, code: 'embed_tenant_not_found' };
const REFUSED = { status: 400, code: 'invalid_request' };

let world: World;
let tenant: string;
beforeAll(async () => {
  world = await createWorld();
  tenant = await newTenant(world);
});
afterAll(() => world.stop());

const run = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;

const newGroup = (given: object = {}, embedTenantName = tenant) =>
  world.admin.createGroup({ embedTenantName, body: { name: unique('group'), ...given } });

const groupsOf = async (embedTenantName: string) =>
  (await world.admin.getGroups({ embedTenantName, first: 1000 })).items;

const byId = (viewers: Viewer[]) => ({ members: viewers.map(({ id }) => ({ embedUserId: id })) });
const byExternalId = (viewers: Viewer[]) => ({ members: viewers.map(({ externalId }) => ({ externalId })) });
const add = (id: number, body: { members: object[] }, embedTenantName = tenant) =>
  world.admin.addGroupMembers({ embedTenantName, id, body });
const remove = (id: number, body: { members: object[] }, embedTenantName = tenant) =>
  world.admin.removeGroupMembers({ embedTenantName, id, body });

/** Every operation on one group. */
const attempts = (embedTenantName: string, id: number, client = world.admin) => [
  () => client.getGroup({ embedTenantName, id }),
  () => client.getGroupMembers({ embedTenantName, id }),
  ...changes(embedTenantName, id, client),
];
const changes = (embedTenantName: string, id: number, client = world.admin) => [
  () => client.updateGroup({ embedTenantName, id, body: { description: 'changed' } }),
  () => client.addGroupMembers({ embedTenantName, id, body: { members: [{ embedUserId: 1 }] } }),
  () => client.removeGroupMembers({ embedTenantName, id, body: { members: [{ embedUserId: 1 }] } }),
  () => client.deleteGroup({ embedTenantName, id }),
];

test('a group is created, found, listed, described and deleted', async () => {
  const name = unique('Sales 🚀');
  const created = await newGroup({ name, description: 'They sell' });
  expect(created).toEqual({ id: created.id, name, description: 'They sell', userCount: 0 });
  const one = { embedTenantName: tenant, id: created.id };
  expect(await world.admin.getGroup(one)).toEqual(created);
  expect(await groupsOf(tenant)).toContainEqual(created);

  const described = await world.admin.updateGroup({ ...one, body: { description: 'They buy' } });
  expect(described).toEqual({ ...created, description: 'They buy' });
  expect(await world.admin.updateGroup({ ...one, body: {} })).toEqual(described);
  const cleared = await world.admin.updateGroup({ ...one, body: { description: null } });
  expect(cleared).toEqual({ ...created, description: null });
  expect(await world.admin.getGroup(one)).toEqual(cleared);

  expect(await world.admin.deleteGroup(one)).toBeUndefined();
  for (const attempt of attempts(tenant, created.id)) await expect(attempt()).rejects.toMatchObject(MISSING);
});

test('a name is unique in an embed tenant, and can be used in others and in the account', async () => {
  const { name } = await newGroup();
  await expect(newGroup({ name })).rejects.toMatchObject({ status: 409, code: 'group_name_taken' });
  expect(await newGroup({ name }, await newTenant(world))).toMatchObject({ name });
  expect(await world.admin.createUserGroup({ body: { name } })).toMatchObject({ name });
});

test.each([
  ['an embed tenant', () => tenant],
  ["the account's own tenant", () => OWN],
])('of many parallel calls for one name in %s, one succeeds', async (_, where) => {
  const name = unique('wanted');
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, () =>
      newGroup({ name }, where()).then(
        () => 'created',
        (error) => error.code,
      ),
    ),
  );
  expect(outcomes.toSorted()).toEqual(['created', ...Array(9).fill('group_name_taken')]);
});

const BAD_DESCRIPTIONS: [string, object][] = [
  ['a description of 501 characters', { description: 'x'.repeat(501) }],
  ['a description that is not text', { description: 1 }],
  ['a number of users', { userCount: 3 }],
];

test.each<[string, object]>([
  ['no name', { name: undefined }],
  ['an empty name', { name: '' }],
  ['a blank name', { name: ' \t ' }],
  ['a name of 101 characters', { name: 'x'.repeat(101) }],
  ['a name with a control character', { name: 'a\u001bb' }],
  ['null for a name', { name: null }],
  ['a name that is not text', { name: ['x'] }],
  ['a name that is reserved', { name: 'system:admins' }],
  ['a kind', { kind: 'tenantGroups' }],
  ...BAD_DESCRIPTIONS,
])('bad input is refused: %s', async (_, given) => {
  const before = await groupsOf(tenant);
  await expect(newGroup(given)).rejects.toMatchObject(REFUSED);
  expect(await groupsOf(tenant)).toEqual(before);
});

test.each<[string, object]>([['a name', { name: 'other' }], ...BAD_DESCRIPTIONS])(
  'bad input changes nothing: %s',
  async (_, body) => {
    const group = await newGroup();
    const one = { embedTenantName: tenant, id: group.id };
    await expect(world.admin.updateGroup({ ...one, body })).rejects.toMatchObject(REFUSED);
    expect(await world.admin.getGroup(one)).toEqual(group);
  },
);

test('a name can have up to 100 characters of any script, and a description up to 500', async () => {
  const given = { name: '🦊'.repeat(100), description: 'ä'.repeat(500) };
  expect(await newGroup(given)).toMatchObject(given);
});

test('a group of another embed tenant, or of the account, is not found', async () => {
  const other = await newTenant(world);
  const foreign = await newGroup({}, other);
  const accounts = await world.admin.createUserGroup({ body: { name: unique('group') } });
  const stored = () => run('select * from user_groups order by id');
  const before = await stored();
  for (const id of [foreign.id, accounts.id, UNKNOWN]) {
    for (const attempt of attempts(tenant, id)) await expect(attempt()).rejects.toMatchObject(MISSING);
  }
  expect(await stored()).toEqual(before);
  const listed = (await groupsOf(tenant)).map(({ id }) => id);
  for (const id of [foreign.id, accounts.id]) expect(listed).not.toContain(id);
});

test('every operation in an embed tenant that does not exist is a 404, and creates nothing', async () => {
  const { id } = await newGroup();
  const name = 'never-made';
  for (const attempt of attempts(name, id)) await expect(attempt()).rejects.toMatchObject(NO_TENANT);
  await expect(groupsOf(name)).rejects.toMatchObject(NO_TENANT);
  await expect(newGroup({}, name)).rejects.toMatchObject(NO_TENANT);
  expect(await run('select from embed_tenants where name = $1', [name])).toEqual([]);
});

test.each(['abc', '1.5', '-1', '0', '9007199254740993', '%00'])('%s is not the id of a group', async (id) => {
  const path = `/api/v1/embed-tenants/${tenant}/groups/${id}`;
  for (const method of ['GET', 'DELETE']) expect((await world.raw(method, path)).status).toBe(400);
});

test("the account's own tenant can have groups before it is created, and the first group creates it", async () => {
  const other = await createOwnWorld({ env: { ORIEL_TENANT: 'my-company' } });
  try {
    const embedTenantName = 'my-company';
    const audited = async () =>
      (await other.server.db.pool.query('select resource_type, resource_id from audit_log order by id')).rows;
    expect((await other.admin.getGroups({ embedTenantName })).items).toEqual([]);
    const attempt = other.admin.deleteGroup({ embedTenantName, id: 1 });
    await expect(attempt).rejects.toMatchObject(MISSING);
    expect((await other.admin.listEmbedTenants()).items).toEqual([]);
    const before = await audited();

    const one = await other.admin.createGroup({ embedTenantName, body: { name: 'one' } });
    const two = await other.admin.createGroup({ embedTenantName, body: { name: 'two' } });
    expect((await other.admin.getGroups({ embedTenantName })).items).toEqual([one, two]);
    expect((await other.admin.listEmbedTenants()).items).toMatchObject([{ name: embedTenantName }]);
    expect((await audited()).slice(before.length)).toEqual([
      { resource_type: 'embedTenant', resource_id: embedTenantName },
      { resource_type: 'embedGroup', resource_id: String(one.id) },
      { resource_type: 'embedGroup', resource_id: String(two.id) },
    ]);
  } finally {
    await other.stop();
  }
});

test('the iterators return all groups and all members', async () => {
  const embedTenantName = await newTenant(world);
  const made: number[] = [];
  for (let i = 0; i < 5; i++) made.push((await newGroup({}, embedTenantName)).id);
  const groups: number[] = [];
  for await (const { id } of world.admin.iterate.getGroups({ embedTenantName, first: 2 })) groups.push(id);
  expect(groups).toEqual(made);

  const id = made[0]!;
  const viewers = await newViewers(world, embedTenantName, 5);
  await add(id, byId(viewers), embedTenantName);
  const members: number[] = [];
  for await (const user of world.admin.iterate.getGroupMembers({ embedTenantName, id, first: 2 }))
    members.push(user.id);
  expect(members).toEqual(viewers.map((viewer) => viewer.id));
});

test('first and after may be empty or null', async () => {
  const { id } = await newGroup();
  const path = `/api/v1/embed-tenants/${tenant}/groups`;
  for (const query of ['first=&after=', 'first=null&after=null']) {
    expect((await world.raw('GET', `${path}?${query}`)).status).toBe(200);
    expect((await world.raw('GET', `${path}/${id}/users?${query}`)).status).toBe(200);
  }
  for (const query of ['first=0', 'first=-1', 'first=x', 'after=x'])
    expect((await world.raw('GET', `${path}?${query}`)).status).toBe(400);
});

test('a cursor is valid only for the groups of one embed tenant, or for the members of one group', async () => {
  const embedTenantName = await newTenant(world);
  const groups = [await newGroup({}, embedTenantName), await newGroup({}, embedTenantName)];
  const [one, two] = groups as [(typeof groups)[0], (typeof groups)[0]];
  const refused = { status: 400, code: 'invalid_cursor' };
  const ofGroups = (await world.admin.getGroups({ embedTenantName, first: 1 })).pageInfo;
  expect(ofGroups).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  const elsewhere = world.admin.getGroups({ embedTenantName: tenant, after: ofGroups.endCursor! });
  await expect(elsewhere).rejects.toMatchObject(refused);

  await add(one.id, byId(await newViewers(world, embedTenantName, 2)), embedTenantName);
  const { pageInfo } = await world.admin.getGroupMembers({ embedTenantName, id: one.id, first: 1 });
  const ofOther = world.admin.getGroupMembers({ embedTenantName, id: two.id, after: pageInfo.endCursor! });
  await expect(ofOther).rejects.toMatchObject(refused);
});

test('only admins can see and change groups', async () => {
  const { id } = await newGroup();
  const { client } = await world.person({ roles: ['Developer'] });
  const forbidden = { status: 403, code: 'forbidden' };
  const body = { name: 'x' };
  await expect(client.getGroups({ embedTenantName: tenant })).rejects.toMatchObject(forbidden);
  await expect(client.createGroup({ embedTenantName: tenant, body })).rejects.toMatchObject(forbidden);
  for (const attempt of attempts(tenant, id, client))
    await expect(attempt()).rejects.toMatchObject(forbidden);
});

test('a scoped key can read groups but not change them', async () => {
  const group = await newGroup();
  const { id: deploymentId } = await world.deployment();
  const { client } = await world.person({ roles: ['Admin'], deploymentIds: [deploymentId] });
  const one = { embedTenantName: tenant, id: group.id };
  expect(await client.getGroup(one)).toEqual(group);
  const refused = { status: 403, code: 'outside_key_scope' };
  const creation = client.createGroup({ embedTenantName: tenant, body: { name: 'x' } });
  await expect(creation).rejects.toMatchObject(refused);
  for (const attempt of changes(tenant, group.id, client))
    await expect(attempt()).rejects.toMatchObject(refused);
  expect(await world.admin.getGroup(one)).toEqual(group);
});

test('each change of a group is in the audit log, and calls that change nothing are not', async () => {
  const created = await newGroup();
  const { id } = created;
  const viewers = await newViewers(world, tenant, 2);
  const [one, two] = viewers as [Viewer, Viewer];
  await add(id, byId([one]));
  await add(id, byExternalId([two, one]));
  await add(id, byId([one]));
  await remove(id, byId([one]));
  await remove(id, byId([one]));
  const describe = () =>
    world.admin.updateGroup({ embedTenantName: tenant, id, body: { description: 'new' } });
  const changed = await describe();
  await describe();
  await world.admin.deleteGroup({ embedTenantName: tenant, id });
  const entries = await run(
    `select operation, before, after from audit_log
     where resource_type = 'embedGroup' and resource_id = $1 order by id`,
    [String(id)],
  );
  const counting = (userCount: number) => ({ embedTenantName: tenant, ...created, userCount });
  const last = { embedTenantName: tenant, ...changed };
  expect(entries).toEqual([
    { operation: 'createGroup', before: null, after: counting(0) },
    {
      operation: 'addGroupMembers',
      before: { userCount: 0 },
      after: { userCount: 1, addedUserIds: [one.id] },
    },
    {
      operation: 'addGroupMembers',
      before: { userCount: 1 },
      after: { userCount: 2, addedUserIds: [two.id] },
    },
    {
      operation: 'removeGroupMembers',
      before: { userCount: 2 },
      after: { userCount: 1, removedUserIds: [one.id] },
    },
    { operation: 'updateGroup', before: { description: null }, after: { description: 'new' } },
    { operation: 'deleteGroup', before: last, after: null },
  ]);
});
