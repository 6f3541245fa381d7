/** What viewers see through the API, each query asked twice: once of the data source, once of the cache. */
import { createOrielClient } from '@oriel/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deployModel, SHOP_FILES } from '../../../test/shops.ts';
import { expectWithinASecond } from '../../../test/within-a-second.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

/** Names that no other test uses, because groups and attributes belong to the account. */
const REGION = unique('region').replaceAll('-', '_');
const REGIONS = unique('regions').replaceAll('-', '_');
const GROUP = unique('analysts');

const MODEL = `cubes:
  - name: customers
    sql_table: files.customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: name, sql: name, type: string }
      - { name: region, sql: region, type: string }
      - { name: tenant_id, sql: tenant_id, type: number }
    measures:
      - { name: count, type: count }
    access_policy:
      - group: "${GROUP}"
        row_level: { allow_all: true }
      - group: "tenant:${GROUP}"
        member_level: { excludes: [name] }
        row_level: { filters: [{ member: region, operator: equals, values: [AMER] }] }
      - group: "role:Admin"
        row_level: { allow_all: true }
      - group: "*"
        row_level:
          filters:
            - or:
                - { member: region, operator: equals, values: ["{ userAttributes.${REGION} }", "{ userAttributes.${REGIONS} }"] }
                - { member: region, operator: equals, values: ["{ userAttributes.${REGION} }"] }
                - { member: tenant_id, operator: equals, values: ["{ securityContext.tenant.id }"] }
  - name: orders
    sql_table: files.orders
    joins:
      - { name: customers, relationship: many_to_one, sql: "{CUBE}.customer_id = {customers.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
    measures:
      - { name: count, type: count }
    access_policy: [{ group: "*" }]
  - name: closed
    sql_table: files.customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: name, sql: name, type: string }
      - { name: region, sql: region, type: string }
    measures:
      - { name: count, type: count }
      - { name: names, sql: "{name}", type: count_distinct }
      - { name: per_name, sql: "1.0 * {count} / {names}", type: number }
      - { name: first_name, sql: name, type: min }
    access_policy:
      - group: "${GROUP}"
        row_level: { allow_all: true }
      - group: "tenant:${GROUP}"
        member_level: { includes: [id, region, count, names, per_name, first_name] }
  - name: buyers
    sql_table: files.customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: name, sql: name, type: string }
    measures:
      - { name: count, type: count }
    access_policy: [{ group: "*" }]
  - name: purchases
    sql_table: files.orders
    joins:
      - { name: buyers, relationship: many_to_one, sql: "{CUBE}.customer_id = {buyers.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: status, sql: status, type: string }
    measures:
      - { name: count, type: count }
      - { name: amount, sql: amount, type: sum }
      - { name: average, sql: "{amount} / {count}", type: number }
    access_policy:
      - group: "${GROUP}"
        member_level: { includes: [id, status] }
      - group: "*"
        row_level: { filters: [{ member: status, operator: equals, values: ["{ userAttributes.${REGION} }"] }] }
views:
  - name: shop
    cubes:
      - { join_path: purchases, includes: "*" }
      - { join_path: purchases.buyers, includes: [name, { name: count, alias: people }] }
    access_policy: [{ group: "*" }]
`;

let world: World;
let deploymentId: number;
let groupId: number;
let regionId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
  await world.writeFiles(deploymentId, SHOP_FILES);
  groupId = (await world.admin.createUserGroup({ body: { name: GROUP } })).id;
  for (const [name, type] of [
    [REGION, 'string'],
    [REGIONS, 'string_array'],
  ] as const) {
    const { id } = await world.admin.createUserAttribute({ body: { name, type, displayName: name } });
    if (name === REGION) regionId = id;
  }
  await deployModel(world, deploymentId, { 'model/cubes/shop.yml': MODEL });
});
afterAll(() => world.stop());

type ViewerOptions = Omit<Parameters<World['embedded']>[0], 'deploymentId'>;
const session = (options: ViewerOptions = {}) =>
  world.embedded({ deploymentId, externalId: unique('viewer'), ...options });
type Client = World['admin'];

async function rowsOf(client: Client, query: object): Promise<Record<string, string>[]> {
  const load = async (more: object = {}) =>
    (await client.load({ deploymentId, body: { query: { ...query, ...more } } })) as never as {
      data: Record<string, string>[];
      lastRefreshTime: string;
    };
  const [first, kept, renewed] = [await load(), await load(), await load({ renewQuery: true })];
  expect(kept).toEqual(first);
  expect(renewed.data).toEqual(first.data);
  expect(renewed.lastRefreshTime > kept.lastRefreshTime).toBe(true);
  return first.data;
}
const idsOf = async (client: Client) =>
  (await rowsOf(client, { dimensions: ['customers.id'] })).map((row) => row['customers.id']);
const countOf = async (client: Client) =>
  (await rowsOf(client, { measures: ['customers.count'] }))[0]!['customers.count'];

test('each viewer sees the rows of their attributes, and never those of another one', async () => {
  const emea = await session({ userAttributes: [{ name: REGION, value: 'EMEA' }] });
  const amer = await session({ userAttributes: [{ name: REGION, value: 'AMER' }] });
  const nobody = await session();
  const quoted = await session({ userAttributes: [{ name: REGION, value: "EMEA' or '1' = '1" }] });
  expect(await idsOf(emea.client)).toEqual(['1', '3']);
  expect(await idsOf(amer.client)).toEqual(['2']);
  expect(await idsOf(nobody.client)).toEqual([]);
  expect(await countOf(nobody.client)).toBe('0');
  expect(await idsOf(quoted.client)).toEqual([]);
  expect(await idsOf(emea.client)).toEqual(['1', '3']);
});

test('a list of values opens the rows of each of them, together with the single one', async () => {
  const userAttributes = [
    { name: REGION, value: 'EMEA' },
    { name: REGIONS, value: ['AMER', 'APAC'] },
  ];
  expect(await idsOf((await session({ userAttributes })).client)).toEqual(['1', '2', '3']);
});

test('ids above 2^53 in a security context are told apart', async () => {
  const holding = (id: unknown) => session({ securityContext: { tenant: { id } } });
  expect(await idsOf((await holding('9007199254740992')).client)).toEqual(['1']);
  expect(await idsOf((await holding('9007199254740993')).client)).toEqual(['2', '3']);
  expect(await idsOf((await holding({ a: 1 })).client)).toEqual([]);
});

test('a change of groups and attributes is in force with the next query of the same token', async () => {
  const externalId = unique('viewer');
  const { client } = await session({ externalId, groups: [GROUP] });
  expect(await idsOf(client)).toEqual(['1', '2', '3']);
  await world.admin.generateSession({
    body: { deploymentId, externalId, groups: [], userAttributes: [{ name: REGION, value: 'AMER' }] },
  });
  expect(await idsOf(client)).toEqual(['2']);
  await world.admin.generateSession({
    body: { deploymentId, externalId, userAttributes: [{ name: REGION, value: null }] },
  });
  expect(await idsOf(client)).toEqual([]);
});

test('many viewers who ask at the same time see their own rows each', async () => {
  const regions = Array.from({ length: 12 }, (_, i) => ['EMEA', 'AMER', 'APAC'][i % 3]!);
  const clients = await Promise.all(
    regions.map(async (value) => (await session({ userAttributes: [{ name: REGION, value }] })).client),
  );
  const query = { dimensions: ['customers.id'] };
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(
      clients.map((client) => client.load({ deploymentId, body: { query } })),
    );
    const seen = (answers as never as { data: Record<string, string>[] }[]).map(({ data }) =>
      data.map((row) => row['customers.id']).join(),
    );
    expect(seen).toEqual(regions.map((region) => ({ EMEA: '1,3', AMER: '2', APAC: '' })[region]));
  }
});

test('whatever a viewer depends on, a change is in force with the next query, and soon on every server', async () => {
  const other = await world.anotherServer();
  const { userId, apiKey, client } = await world.person({ roles: ['Viewer'] });
  const there = createOrielClient({ baseUrl: other.url, apiKey, retries: 0 });
  const expectCount = async (count: string) => {
    expect(await countOf(client)).toBe(count);
    await expectWithinASecond(() => countOf(there), count);
  };
  const { admin } = world;
  await expectCount('0');
  await admin.updateUserAttribute({ id: regionId, body: { defaultValue: 'AMER' } });
  await expectCount('1');
  await admin.updateUserAttribute({ id: regionId, body: { defaultValue: null } });
  await expectCount('0');
  await admin.addUserGroupMembers({ id: groupId, body: { userIds: [userId] } });
  await expectCount('3');
  await admin.updateUserGroup({ id: groupId, body: { name: unique('renamed') } });
  await expectCount('0');
  await admin.updateUserGroup({ id: groupId, body: { name: GROUP } });
  await expectCount('3');
  await admin.removeUserGroupMembers({ id: groupId, body: { userIds: [userId] } });
  await expectCount('0');
  await admin.updateUser({ id: userId, body: { roles: ['Admin'] } });
  await expectCount('3');
  await admin.updateUser({ id: userId, body: { roles: ['Viewer'] } });
  await expectCount('0');
});

test('the token of a session that was revoked gets no answer that is kept', async () => {
  const embedTenantName = unique('tenant');
  const { client } = await session({ embedTenantName, groups: [GROUP] });
  expect(await idsOf(client)).toEqual(['1', '2', '3']);
  await world.admin.revokeEmbedSessions({ body: { embedTenantName } });
  await expect.poll(() => idsOf(client).catch(({ status }) => status)).toBe(401);
});

test('groups of creator mode are those of the embed tenant, and tenant groups have a prefix', async () => {
  const embedTenantName = unique('tenant');
  const creator = (options: ViewerOptions) =>
    session({ embedTenantName, creatorMode: true, groupDefinitions: [{ name: GROUP }], ...options });
  expect(await idsOf((await creator({ groups: [GROUP] })).client)).toEqual(['1', '2', '3']);
  const { client } = await creator({ tenantGroups: [GROUP] });
  expect(await idsOf(client)).toEqual(['2']);
  // The policy of the tenant group does not open the name, so only the others count, and none of them matches.
  expect(await rowsOf(client, { dimensions: ['customers.name'] })).toEqual([]);
});

test('a policy of a cube that is only filtered by or passed through applies', async () => {
  const { client } = await session({ userAttributes: [{ name: REGION, value: 'EMEA' }] });
  const filters = [{ member: 'customers.id', operator: 'gt', values: ['0'] }];
  expect(await rowsOf(client, { measures: ['orders.count'], filters })).toEqual([{ 'orders.count': '4' }]);
  expect(await rowsOf(client, { measures: ['orders.count'] })).toEqual([{ 'orders.count': '5' }]);
});

test('people match by groups and roles, and an admin does not pass around a policy that names others', async () => {
  expect(await countOf(world.admin)).toBe('3');
  expect(await rowsOf(world.admin, { measures: ['closed.count'] })).toEqual([{ 'closed.count': '0' }]);
  const person = await world.person({ roles: ['Viewer'] });
  expect(await countOf(person.client)).toBe('0');
  const id = groupId;
  await world.admin.addUserGroupMembers({ id, body: { userIds: [person.userId] } });
  expect(await countOf(person.client)).toBe('3');
  await world.admin.removeUserGroupMembers({ id, body: { userIds: [person.userId] } });
  expect(await countOf(person.client)).toBe('0');
});

test('an environment token has its security context, and its creator only if it was made for them', async () => {
  const { items } = await world.admin.getDeploymentEnvironments({ deploymentId, type: 'production' });
  const environmentId = items[0]!.id;
  const { data } = await world.admin.createDeploymentEnvironmentToken({
    deploymentId,
    environmentId,
    body: { security_context: { tenant: { id: '9007199254740993' } } },
  });
  expect(await idsOf(world.bearer(data.token))).toEqual(['2', '3']);
  const creator = await world.person({ roles: ['Explorer'] });
  await world.admin.addUserGroupMembers({ id: groupId, body: { userIds: [creator.userId] } });
  const { apiToken } = await creator.client.deploymentToken({ deploymentId });
  expect(await idsOf(world.bearer(apiToken))).toEqual(['1', '2', '3']);
});

test('rows that are not grouped show no column that is hidden from the viewer', async () => {
  const creator = {
    embedTenantName: unique('tenant'),
    creatorMode: true,
    groupDefinitions: [{ name: GROUP }],
  };
  const { client } = await session({ ...creator, tenantGroups: [GROUP] });
  const rows = (measures: string[], of = client) =>
    rowsOf(of, { dimensions: ['closed.id'], measures, ungrouped: true, order: { 'closed.id': 'asc' } });
  expect(await rows(['closed.names', 'closed.per_name'])).toEqual(
    ['1', '2', '3'].map((id) => ({
      'closed.id': id,
      'closed.names': '1',
      'closed.per_name': expect.stringMatching(/^1(\.0+)?$/),
    })),
  );
  await expect(rows(['closed.first_name'])).rejects.toMatchObject({
    status: 400,
    code: 'invalid_query',
    message: expect.stringContaining('`closed.first_name` would show values of single rows'),
  });
  const open = await session({ groups: [GROUP] });
  const names = (await rows(['closed.first_name'], open.client)).map((row) => row['closed.first_name']);
  expect(names).toEqual(['Ada', 'Bob', 'Cyd']);
});

async function sqlRows(client: Client, query: string): Promise<unknown[][]> {
  const reply = await client.runSql({ deploymentId, body: { query } });
  const lines = Buffer.from(await reply.bytes())
    .toString()
    .trim()
    .split('\n');
  return Object.assign({}, ...lines.map((line) => JSON.parse(line))).data;
}

test('a view shows what the rows of its root lead to, so the policies of the root apply to everything', async () => {
  const { client } = await session({ userAttributes: [{ name: REGION, value: 'new' }] });
  const names = { dimensions: ['shop.name'] };
  expect((await rowsOf(client, names)).map((row) => row['shop.name'])).toEqual(['Ada', 'Cyd']);
  expect(await rowsOf(client, { measures: ['shop.people'] })).toEqual([{ 'shop.people': '2' }]);
  expect(await rowsOf(client, { measures: ['shop.people', 'shop.count'], ...names })).toEqual([
    { 'shop.name': 'Ada', 'shop.people': '1', 'shop.count': '1' },
    { 'shop.name': 'Cyd', 'shop.people': '1', 'shop.count': '1' },
  ]);
  expect(await sqlRows(client, 'select name from shop order by 1')).toEqual([['Ada'], ['Cyd']]);
  const counts =
    'select count(*), count(distinct name), measure(people), measure(count), measure(average) from shop';
  expect(await sqlRows(client, counts)).toEqual([['2', '2', '2', '2', expect.stringMatching(/^5\.75/)]]);

  const nobody = (await session()).client;
  expect(await rowsOf(nobody, names)).toEqual([]);
  expect(await rowsOf(nobody, { measures: ['shop.people'] })).toEqual([{ 'shop.people': '0' }]);
  expect(await rowsOf(nobody, { ...names, ungrouped: true })).toEqual([]);
  expect(await sqlRows(nobody, 'select name from shop')).toEqual([]);
  expect(await sqlRows(nobody, 'select count(*), measure(people) from shop')).toEqual([['0', '0']]);
  // The cube itself is open.
  expect(await rowsOf(nobody, { measures: ['buyers.count'] })).toEqual([{ 'buyers.count': '3' }]);
});

test('a policy that opens only some members opens no rows to a measure, in SQL neither', async () => {
  const { client } = await session({
    groups: [GROUP],
    userAttributes: [{ name: REGION, value: 'new' }],
  });
  expect(await rowsOf(client, { dimensions: ['purchases.id'] })).toHaveLength(5);
  expect(await rowsOf(client, { measures: ['purchases.count'] })).toEqual([{ 'purchases.count': '2' }]);
  for (const table of ['purchases', 'shop']) {
    expect(await sqlRows(client, `select id from ${table}`)).toHaveLength(5);
    expect(await sqlRows(client, `select count(*) from ${table}`)).toEqual([['5']]);
    expect(await sqlRows(client, `select measure(count) from ${table}`)).toEqual([['2']]);
    const ids = `select id, measure(average) from ${table} group by 1 order by 1`;
    expect((await sqlRows(client, ids)).map(([id]) => id)).toEqual(['1', '5']);
    const beside = `select count(*), measure(amount) from ${table} where status is not null`;
    expect(await sqlRows(client, beside)).toEqual([['2', expect.stringMatching(/^11\.50?$/)]]);
  }
});

test('meta shows a viewer the members that policies open to them', async () => {
  const membersOf = async (client: Client) => {
    const { cubes } = await client.getQueryMeta({ deploymentId });
    const closed = cubes.filter(({ name }) => name === 'closed');
    return closed.flatMap(({ dimensions }) => dimensions.map(({ name }) => name));
  };
  expect(await membersOf((await session()).client)).toEqual([]);
  expect(await membersOf((await session({ groups: [GROUP] })).client)).toContain('closed.name');
  const creator = {
    embedTenantName: unique('tenant'),
    creatorMode: true,
    groupDefinitions: [{ name: GROUP }],
  };
  const { client } = await session({ ...creator, tenantGroups: [GROUP] });
  expect(await membersOf(client)).toEqual(['closed.id', 'closed.region']);
});
