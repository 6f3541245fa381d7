import { afterAll, beforeAll, expect, test } from 'vitest';
import { newTenant, newViewer, newViewers } from '../../../test/embed-tenants.ts';
import { ADMIN_KEY, createOwnWorld, unique, type World } from '../../../test/world.ts';

/** The default name of the account's own tenant. */
const OWN = 'oriel';
const MISSING = { status: 404, code: 'embed_tenant_not_found' };
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const run = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;

const found = async (search: string) =>
  (await world.admin.listEmbedTenants({ search, first: 1000 })).items.map(({ name }) => name);
const foundUsers = async (embedTenantName: string, search: string) =>
  (await world.admin.listEmbedUsers({ embedTenantName, search })).items.map(({ externalId }) => externalId);

test('embed tenants are listed oldest first, with the number of their users', async () => {
  const [one, two] = [await newTenant(world, 'Acme Corporation'), await newTenant(world)];
  await newViewers(world, one, 3);
  const { items } = await world.admin.listEmbedTenants({ first: 1000 });
  expect(items.filter(({ name }) => [one, two].includes(name))).toEqual([
    { id: expect.any(Number), name: one, displayName: 'Acme Corporation', createdAt: TIME, userCount: 3 },
    { id: expect.any(Number), name: two, displayName: null, createdAt: TIME, userCount: 0 },
  ]);
  expect(items.map(({ id }) => id)).toEqual(items.map(({ id }) => id).toSorted((a, b) => a - b));
  const slashed = await world.raw('GET', '/api/v1/embed-tenants/?first=1000');
  expect(await slashed.json()).toMatchObject({ items });
});

test('search finds embed tenants by an exact part of the name or display name, in upper or lower case', async () => {
  const mark = unique('mark');
  const percent = await newTenant(world, `${mark} 100% Ltd`);
  const underscore = await newTenant(world, `${mark} A_B Ltd`);
  const backslash = await newTenant(world, `${mark} C\\D Ltd`);
  expect(await found(mark.toUpperCase())).toEqual([percent, underscore, backslash]);
  expect(await found(`${mark} 100% l`)).toEqual([percent]);
  expect(await found(`${mark} 1%`)).toEqual([]);
  expect(await found(`${mark} a_b`)).toEqual([underscore]);
  expect(await found(`${mark}_`)).toEqual([]);
  expect(await found(`${mark} c\\d`)).toEqual([backslash]);
  expect(await found(`${mark} c\\\\d`)).toEqual([]);
  expect(await found(percent.toUpperCase())).toEqual([percent]);
  expect(await found("' or true --")).toEqual([]);
});

test('an empty search finds everything', async () => {
  const name = await newTenant(world);
  for (const search of ['', 'null']) expect(await found(search)).toContain(name);
});

test('users are listed oldest first, and the email is null if none was given', async () => {
  const tenant = await newTenant(world);
  const ada = await newViewer(world, tenant, { email: 'ada@example.com', firstName: 'Ada' });
  const bob = await newViewer(world, tenant);
  await newViewer(world, await newTenant(world));
  const common = { createdAt: TIME, lastLogin: null };
  const shown = (externalId: string) => ({ externalId, username: externalId, ...common });
  const { items, pageInfo } = await world.admin.listEmbedUsers({ embedTenantName: tenant });
  expect(items).toEqual([
    { id: ada.id, email: 'ada@example.com', firstName: 'Ada', ...shown(ada.externalId) },
    { id: bob.id, email: null, firstName: null, ...shown(bob.externalId) },
  ]);
  expect(pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
});

test('search finds users by an exact part of the external id, email or display name, in upper or lower case', async () => {
  const tenant = await newTenant(world);
  await newViewer(world, tenant, { externalId: 'a_1', email: 'Ada@Example.com', firstName: 'Ada 50%' });
  await newViewer(world, tenant, { externalId: 'ab1', firstName: 'Bob \\ Builder' });
  expect(await foundUsers(tenant, 'A_1')).toEqual(['a_1']);
  expect(await foundUsers(tenant, 'ADA@example')).toEqual(['a_1']);
  expect(await foundUsers(tenant, 'a%1')).toEqual([]);
  expect(await foundUsers(tenant, '0%')).toEqual(['a_1']);
  expect(await foundUsers(tenant, 'BOB \\')).toEqual(['ab1']);
  expect(await foundUsers(tenant, '1')).toEqual(['a_1', 'ab1']);
  // Owners of content without an email are shown with this address. It is not an email of the user.
  expect(await foundUsers(tenant, 'embed.invalid')).toEqual([]);
  await newViewer(world, await newTenant(world), { externalId: 'a_1' });
  expect(await foundUsers(tenant, 'a_1')).toEqual(['a_1']);
});

test('the iterators return all embed tenants and all users', async () => {
  const names: string[] = [];
  for (let i = 0; i < 3; i++) names.push(await newTenant(world, 'walked over'));
  const walked: string[] = [];
  for await (const { name } of world.admin.iterate.listEmbedTenants({ search: 'WALKED', first: 2 }))
    walked.push(name);
  expect(walked).toEqual(names);

  const [embedTenantName] = names as [string];
  const viewers = await newViewers(world, embedTenantName, 5);
  const ids: number[] = [];
  for await (const { id } of world.admin.iterate.listEmbedUsers({ embedTenantName, first: 2 })) ids.push(id);
  expect(ids).toEqual(viewers.map(({ id }) => id));
});

test('pages stay correct while users are added and deleted', async () => {
  const embedTenantName = await newTenant(world);
  const viewers = await newViewers(world, embedTenantName, 4);
  const [one, two, three, four] = viewers.map(({ id }) => id) as [number, number, number, number];
  const page = await world.admin.listEmbedUsers({ embedTenantName, first: 2 });
  expect(page.items.map(({ id }) => id)).toEqual([one, two]);
  await run('delete from users where id = any($1)', [[two, three]]);
  const five = await newViewer(world, embedTenantName);
  const rest = await world.admin.listEmbedUsers({ embedTenantName, after: page.pageInfo.endCursor! });
  expect(rest.items.map(({ id }) => id)).toEqual([four, five.id]);
  expect(rest.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
});

test('a cursor belongs to one list', async () => {
  const [one, two] = [await newTenant(world), await newTenant(world)];
  await newViewers(world, one, 2);
  const { pageInfo } = await world.admin.listEmbedUsers({ embedTenantName: one, first: 1 });
  const after = pageInfo.endCursor!;
  const refused = { status: 400, code: 'invalid_cursor' };
  await expect(world.admin.listEmbedUsers({ embedTenantName: two, after })).rejects.toMatchObject(refused);
  await expect(world.admin.listEmbedTenants({ after })).rejects.toMatchObject(refused);
  await expect(world.admin.getGroups({ embedTenantName: one, after })).rejects.toMatchObject(refused);
  await expect(world.admin.listEmbedTenants({ after: 'x' })).rejects.toMatchObject(refused);
});

test.each(['first=0', 'first=x', 'first=1&first=2', 'after=', `search=${'x'.repeat(256)}`, 'search=%00'])(
  'a bad query is refused: %s',
  async (query) => {
    const tenant = await newTenant(world);
    for (const path of ['/api/v1/embed-tenants', `/api/v1/embed-tenants/${tenant}/users`])
      expect((await world.raw('GET', `${path}?${query}`)).status).toBe(400);
  },
);

test.each(['unknown-tenant', 'Acme', 'acme corp', 'a', '1', 'ä', 'x'.repeat(256), "' or true --", 'null'])(
  'an embed tenant that does not exist is not found: %s',
  async (name) => {
    const path = `/api/v1/embed-tenants/${encodeURIComponent(name)}`;
    expect((await world.raw('DELETE', path)).status).toBe(404);
    expect((await world.raw('GET', `${path}/users`)).status).toBe(404);
    expect((await world.raw('GET', `${path}/groups`)).status).toBe(404);
  },
);

test('paths with a wrong spelling, and removed operations, are refused', async () => {
  const tenant = await newTenant(world);
  const path = `/api/v1/embed-tenants/${tenant}`;
  const removed = [
    ['DELETE', `${path}/`],
    ['GET', `${path}/user-attributes`],
    ['DELETE', `${path}/user-attributes/1`],
  ] as const;
  for (const [method, address] of removed) {
    const response = await world.raw(method, address);
    expect([method, address, response.status]).toEqual([method, address, 404]);
    expect(await response.json()).toMatchObject({ code: 'route_not_found' });
  }
  for (const [method, address] of [
    ['DELETE', '/api/v1/embed-tenants/'],
    ['GET', path],
  ] as const) {
    expect((await world.raw(method, address)).status).toBe(405);
  }
  expect(await found(tenant)).toEqual([tenant]);
});

test("the account's own tenant is there before anything is in it, and cannot be deleted", async () => {
  const refused = { status: 409, code: 'embed_tenant_is_own' };
  expect((await world.admin.listEmbedUsers({ embedTenantName: OWN })).items).toEqual([]);
  await expect(world.admin.deleteEmbedTenant({ embedTenantName: OWN })).rejects.toMatchObject(refused);
  await run('insert into embed_tenants (name) values ($1)', [OWN]);
  const viewer = await newViewer(world, OWN);
  await expect(world.admin.deleteEmbedTenant({ embedTenantName: OWN })).rejects.toMatchObject(refused);
  const { items } = await world.admin.listEmbedUsers({ embedTenantName: OWN });
  expect(items.map(({ id }) => id)).toEqual([viewer.id]);
});

test('a setting decides which tenant belongs to the account itself', async () => {
  const other = await createOwnWorld({ env: { ORIEL_TENANT: 'my-company' } });
  try {
    const deletion = (embedTenantName: string) => other.admin.deleteEmbedTenant({ embedTenantName });
    await expect(deletion('my-company')).rejects.toMatchObject({ code: 'embed_tenant_is_own' });
    await expect(deletion(OWN)).rejects.toMatchObject(MISSING);
  } finally {
    await other.stop();
  }
});

test('only admins can list and delete embed tenants, with either scheme for the API key', async () => {
  const embedTenantName = await newTenant(world);
  const { client } = await world.person({ roles: ['Developer'] });
  const forbidden = { status: 403, code: 'forbidden' };
  await expect(client.listEmbedTenants()).rejects.toMatchObject(forbidden);
  await expect(client.listEmbedUsers({ embedTenantName })).rejects.toMatchObject(forbidden);
  await expect(client.deleteEmbedTenant({ embedTenantName })).rejects.toMatchObject(forbidden);
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  expect((await world.raw('GET', '/api/v1/embed-tenants', { headers })).status).toBe(200);
});

test('a scoped key can list embed tenants but cannot delete them', async () => {
  const embedTenantName = await newTenant(world);
  const { id: deploymentId } = await world.deployment();
  const { client } = await world.person({ roles: ['Admin'], deploymentIds: [deploymentId] });
  expect((await client.listEmbedUsers({ embedTenantName })).items).toEqual([]);
  const refused = { status: 403, code: 'outside_key_scope' };
  await expect(client.deleteEmbedTenant({ embedTenantName })).rejects.toMatchObject(refused);
});
