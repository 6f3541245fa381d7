/** Viewers stay in memory until something that they depend on changes, and only while changes are notified. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stopListening } from '../../../test/listening.ts';
import { deployModel, SHOP_FILES } from '../../../test/shops.ts';
import { statementsDuring } from '../../../test/statements.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

const policy = (groups: string[], region: string) =>
  groups.map(
    (group) => `
      - group: "${group}"
        row_level: { filters: [{ member: region, operator: equals, values: ["${region}"] }] }`,
  );

const MODEL = `cubes:
  - name: customers
    sql_table: files.customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: region, sql: region, type: string }
    measures:
      - { name: count, type: count }
    access_policy:${policy(['team', 'role:Sellers'], 'EMEA').join('')}${policy(['tenant:team', '*'], '{ userAttributes.region }').join('')}
`;

let world: World;
let deploymentId: number;
let teamId: number;
let regionId: number;
beforeAll(async () => {
  world = await createOwnWorld();
  await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
  deploymentId = (await world.deployment()).id;
  await world.writeFiles(deploymentId, SHOP_FILES);
  teamId = (await world.admin.createUserGroup({ body: { name: 'team' } })).id;
  regionId = (
    await world.admin.createUserAttribute({ body: { name: 'region', type: 'string', displayName: 'Region' } })
  ).id;
  await deployModel(world, deploymentId, { 'model/cubes/shop.yml': MODEL });
});
afterAll(() => world.stop());

type Client = World['admin'];

async function countOf(client: Client) {
  const { data } = (await client.load({
    deploymentId,
    body: { query: { measures: ['customers.count'] } },
  })) as never as { data: { 'customers.count': string }[] };
  return Number(data[0]!['customers.count']);
}

const readsOf = async (client: Client) =>
  (await statementsDuring(world.server.db, () => countOf(client))).filter(
    ({ name }) => name === 'list-viewers',
  ).length;

/** The viewer is in memory before each change, and the first query after it sees the change. */
async function expectSeen(client: Client, steps: [change: () => Promise<unknown>, count: number][]) {
  for (const [change, count] of steps) {
    await expect.poll(() => readsOf(client)).toBe(0);
    await change();
    expect(await countOf(client)).toBe(count);
  }
}

test('the first query after a change of an external viewer sees it', async () => {
  const { admin } = world;
  const externalId = unique('viewer');
  const mint = (options: object) => admin.generateSession({ body: { deploymentId, externalId, ...options } });
  const { client } = await world.embedded({ deploymentId, externalId });
  expect(await countOf(client)).toBe(0);
  await expectSeen(client, [
    [() => mint({ userAttributes: [{ name: 'region', value: 'AMER' }] }), 1],
    [() => mint({ userAttributes: [{ name: 'region', value: 'EMEA' }] }), 2],
    [() => mint({ userAttributes: [{ name: 'region', value: null }] }), 0],
    [() => mint({ groups: ['team'] }), 2],
    [() => admin.updateUserGroup({ id: teamId, body: { name: 'other' } }), 0],
    [() => admin.updateUserGroup({ id: teamId, body: { name: 'team' } }), 2],
    [() => mint({ groups: [] }), 0],
    [() => admin.updateUserAttribute({ id: regionId, body: { defaultValue: 'AMER' } }), 1],
    [() => admin.updateUserAttribute({ id: regionId, body: { defaultValue: null } }), 0],
  ]);
});

test('the first query after a change of an embed tenant’s catalogue or members sees it', async () => {
  const { admin } = world;
  const embedTenantName = unique('tenant');
  const externalId = unique('creator');
  const creator = { deploymentId, embedTenantName, externalId, creatorMode: true };
  const { client } = await world.embedded({ ...creator, groupDefinitions: [{ name: 'team' }] });
  const { items } = await admin.getGroups({ embedTenantName });
  const { id } = items[0]!;
  const body = { members: [{ externalId }] };
  const tenantGroups = ['team'];
  const region = { name: 'region', displayName: 'Region', type: 'string' as const };
  expect(await countOf(client)).toBe(0);
  await expectSeen(client, [
    [() => admin.addGroupMembers({ embedTenantName, id, body }), 2],
    // From both kinds of membership to the one that the policy of the account's group does not name.
    [() => admin.generateSession({ body: { ...creator, groups: [], tenantGroups } }), 0],
    [
      () =>
        admin.generateSession({
          body: { ...creator, userAttributeDefinitions: [{ ...region, defaultValue: 'AMER' }] },
        }),
      1,
    ],
    [() => admin.addGroupMembers({ embedTenantName, id, body }), 3],
    [() => admin.deleteGroup({ embedTenantName, id }), 1],
  ]);
});

test('the first query after a change of a person sees it', async () => {
  const { admin } = world;
  const { id: roleId } = await admin.createRole({ body: { name: 'Buyers', actions: [] } });
  const { userId, client } = await world.person({ roles: ['Viewer', 'Buyers'] });
  expect(await countOf(client)).toBe(0);
  const setRegion = (value: string | null) =>
    admin.upsertUserAttributeValue({
      body: { userId: String(userId), userAttributeId: String(regionId), value: value as never },
    });
  await expectSeen(client, [
    [() => setRegion('AMER'), 1],
    [() => setRegion('EMEA'), 2],
    [() => setRegion(null), 0],
    [() => admin.updateRole({ id: roleId, body: { name: 'Sellers' } }), 2],
    [() => admin.updateRole({ id: roleId, body: { name: 'Buyers' } }), 0],
    [() => admin.addUserGroupMembers({ id: teamId, body: { userIds: [userId] } }), 2],
    [() => admin.removeUserGroupMembers({ id: teamId, body: { userIds: [userId] } }), 0],
  ]);
});

test('minting for a new viewer, or without a change, notifies nobody', async () => {
  const told = await world.server.db.pool.connect();
  const heard: (string | undefined)[] = [];
  told.on('notification', ({ payload }) => heard.push(payload));
  try {
    await told.query('listen oriel_credentials');
    const session = {
      deploymentId,
      externalId: unique('viewer'),
      groups: ['team'],
      userAttributes: [{ name: 'region', value: 'AMER' }],
    };
    const mint = (options = {}) => world.admin.generateSession({ body: { ...session, ...options } });
    await mint();
    await mint();
    await mint({ groups: [] });
    await expect.poll(() => told.query('select 1').then(() => heard)).toHaveLength(1);
    expect(heard).toEqual([expect.stringMatching(/^user:\d+$/)]);
  } finally {
    told.release(true);
  }
});

test('a viewer with a large security context is read for each query', async () => {
  const { client } = await world.embedded({
    deploymentId,
    externalId: unique('viewer'),
    securityContext: { text: 'x'.repeat(5000) },
  });
  await countOf(client);
  expect(await readsOf(client)).toBe(1);
});

test('while notifications cannot be received, the viewer is read for each query', async () => {
  const externalId = unique('viewer');
  const { client } = await world.embedded({ deploymentId, externalId, groups: ['team'] });
  expect(await countOf(client)).toBe(2);
  await expect.poll(() => readsOf(client)).toBe(0);
  const stopped = await stopListening(world);
  try {
    await expect.poll(() => readsOf(client)).toBe(1);
    expect(await readsOf(client)).toBe(1);
    // As another server would do it.
    await world.server.db.pool.query(
      `delete from user_group_members where user_id = (select id from users where external_id = '${externalId}')`,
    );
    expect(await countOf(client)).toBe(0);
  } finally {
    await stopped.resume();
  }
});
