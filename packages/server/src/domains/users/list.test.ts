import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

type Filter = Parameters<World['admin']['listUsers']>[0];

/** Creates people whose names all contain a new word. Returns the word, and what each of them has in addition. */
async function people<Names extends string>(given: Record<Names, object>) {
  const word = unique('crew').toLowerCase();
  const ids = {} as Record<Names, number>;
  for (const [name, changes] of Object.entries(given) as [Names, object][]) {
    const username = `${name}-${word}`;
    const body = { username, email: `${username}@example.com`, ...changes };
    ids[name] = (await world.admin.createUser({ body })).id;
  }
  return { word, ids };
}

const idsOf = async (filter: Filter) => {
  const found: number[] = [];
  for await (const { id } of world.admin.iterate.listUsers({ first: 2, ...filter })) found.push(id);
  return found;
};

test('a list shows each person as a single read does, without settings and accepted terms', async () => {
  const { word, ids } = await people({ ada: { firstName: 'Ada', roles: ['Explorer', 'Developer'] } });
  await world.admin.updateUser({
    id: ids.ada,
    body: { settings: { theme: 'dark' }, notifications: ['digest'], title: 'Countess' },
  });
  const single = await world.admin.getUser({ id: ids.ada });
  expect(single).toMatchObject({
    username: `ada-${word}`,
    title: 'Countess',
    settings: { theme: 'dark' },
    notifications: { digest: true },
    roles: ['Developer', 'Explorer'],
    isAdmin: false,
  });
  const { settings: _settings, tosAccepted: _tosAccepted, ...listed } = single;
  expect((await world.admin.listUsers({ search: word })).items).toEqual([listed]);
});

test('a search finds a part of the name, the username or the email, in any case', async () => {
  const { word, ids } = await people({
    one: { firstName: 'Ünal Ŝmith' },
    two: { email: `${unique('mail')}@Example.org` },
    three: { username: `THREE-${unique('crew')}` },
  });
  const { email } = await world.admin.getUser({ id: ids.two });
  const { username } = await world.admin.getUser({ id: ids.three });
  expect(await idsOf({ search: word.toUpperCase() })).toEqual([ids.one, ids.two, ids.three]);
  expect(await idsOf({ search: 'ünAL ŜM' })).toContain(ids.one);
  expect(await idsOf({ search: email.toUpperCase() })).toEqual([ids.two]);
  expect(await idsOf({ search: username.toLowerCase().slice(1) })).toEqual([ids.three]);
});

test('a search takes % and _ and \\ for ordinary characters, and matches no text across two fields', async () => {
  const { word, ids } = await people({
    'a%b_c\\d': { email: `${unique('mail')}@example.com` },
    axbxcxd: {},
  });
  expect(await idsOf({ search: `a%b_c\\d-${word}` })).toEqual([ids['a%b_c\\d']]);
  expect(await idsOf({ search: `-${word}axbxcxd` })).toEqual([]);
});

test('filters by state, role and group are combined', async () => {
  const { word, ids } = await people({
    plain: {},
    idle: { roles: ['Developer'] },
    busy: { roles: ['Developer'] },
    member: { roles: ['Developer'] },
  });
  await world.admin.updateUser({ id: ids.idle, body: { isDeactivated: true } });
  const group = await world.admin.createUserGroup({ body: { name: unique('group') } });
  await world.admin.addUserGroupMembers({ id: group.id, body: { userIds: [ids.member, ids.idle] } });
  const search = word;
  expect(await idsOf({ search, state: 'active' })).toEqual([ids.plain, ids.busy, ids.member]);
  expect(await idsOf({ search, state: 'deactivated' })).toEqual([ids.idle]);
  expect(await idsOf({ search, role: 'Developer' })).toEqual([ids.idle, ids.busy, ids.member]);
  expect(await idsOf({ groupId: group.id })).toEqual([ids.idle, ids.member]);
  expect(await idsOf({ groupId: group.id, state: 'active' })).toEqual([ids.member]);
  expect(await idsOf({ search, role: 'Developer', state: 'active' })).toEqual([ids.busy, ids.member]);
  expect(await idsOf({ groupId: group.id, role: 'Viewer' })).toEqual([]);
  expect(await idsOf({ search, role: 'Wizard' })).toEqual([]);
  expect(await idsOf({ groupId: 999_999_999 })).toEqual([]);
});

test('the list, a single read, a change and a bulk action know no external users', async () => {
  const { id: deploymentId } = await world.deployment();
  const externalId = unique('viewer');
  await world.embedded({ deploymentId, externalId });
  const embedTenantName = 'oriel';
  const { items } = await world.admin.listEmbedUsers({ embedTenantName, search: externalId });
  const { id } = items[0]!;
  expect(await idsOf({ search: externalId })).toEqual([]);
  const missing = { status: 404, code: 'user_not_found' };
  await expect(world.admin.getUser({ id })).rejects.toMatchObject(missing);
  await expect(world.admin.updateUser({ id, body: {} })).rejects.toMatchObject(missing);
  const { failed } = await world.admin.bulkUserAction({ body: { action: 'DEACTIVATE', userIds: [id] } });
  expect(failed).toMatchObject([{ userId: id, error: { status: 404 } }]);
});

test('a deleted user is in no list, and is not found', async () => {
  const { word, ids } = await people({ gone: {}, stays: {} });
  await world.admin.deleteUser({ id: ids.gone });
  expect(await idsOf({ search: word })).toEqual([ids.stays]);
  await expect(world.admin.getUser({ id: ids.gone })).rejects.toMatchObject({ status: 404 });
});

test('each person who stays is shown once while others come and go', async () => {
  const names = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`p${i}`, {}]));
  const { word, ids } = await people(names);
  const seen: number[] = [];
  let after: string | undefined;
  for (let page = 0; ; page++) {
    const { items, pageInfo } = await world.admin.listUsers({ search: word, first: 2, after });
    seen.push(...items.map(({ id }) => id));
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor!;
    if (page < 3) await world.admin.deleteUser({ id: ids[`p${page * 2}`]! });
    const username = `new${page}-${word}`;
    if (page < 3) await world.admin.createUser({ body: { username, email: `${username}@example.com` } });
  }
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen).toEqual(expect.arrayContaining(Object.values(ids)));
});

test('a page of people with much text ends early, and leaves nobody out', async () => {
  const names = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, {}]));
  const { word, ids } = await people(names);
  await world.server.db.pool.query(
    `update users set notifications = jsonb_build_object(repeat('x', 120000), true) where username like '%' || $1`,
    [word],
  );
  const page = await world.admin.listUsers({ search: word, first: 1000 });
  expect(page.items.length).toBeLessThan(25);
  expect(page.pageInfo.hasNextPage).toBe(true);
  expect(await idsOf({ search: word, first: 1000 })).toEqual(Object.values(ids));
});

test.each([
  ['a state that does not exist', 'state=gone'],
  ['a search that is too long', `search=${'x'.repeat(256)}`],
  ['a group that is no id', 'groupId=abc'],
  ['a NUL', 'search=%00'],
  ['a search that is given twice', 'search=a&search=b'],
])('bad input is refused: %s', async (_, query) => {
  expect((await world.raw('GET', `/api/v1/users?${query}`)).status).toBe(400);
});

test('empty filters count as not given', async () => {
  const { items } = await world.admin.listUsers({ first: 3 });
  const response = await world.raw('GET', '/api/v1/users/?first=3&search=&state=null&role=&groupId=');
  expect(await response.json()).toMatchObject({ items });
});

test('only admins can list and read users, also with a scoped key', async () => {
  const { client, userId } = await world.person({ roles: ['Developer'] });
  await expect(client.listUsers()).rejects.toMatchObject({ status: 403, code: 'forbidden' });
  await expect(client.getUser({ id: userId })).rejects.toMatchObject({ status: 403, code: 'forbidden' });
  const { id } = await world.deployment();
  const scoped = await world.person({ roles: ['Admin'], deploymentIds: [id] });
  expect(await scoped.client.getUser({ id: userId })).toMatchObject({ id: userId });
});
