/** Cubes and views without a policy: open to people and environment tokens, and not there for embed viewers. */
import { createOrielClient, type OrielError } from '@oriel/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createShop } from '../../../test/shops.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

/** Customers and statuses have a policy, and the orders between them have none. */
const MODEL = `cubes:
  - name: customers
    sql_table: files.customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: region, sql: region, type: string }
      - { name: orders_count, sql: "{orders.count}", type: number, sub_query: true }
    measures:
      - { name: count, type: count }
    access_policy:
      - group: "*"
        row_level: { filters: [{ member: region, operator: notEquals, values: [AMER] }] }
  - name: orders
    sql_table: files.orders
    joins:
      - { name: customers, relationship: many_to_one, sql: "{CUBE}.customer_id = {customers.id}" }
      - { name: statuses, relationship: many_to_one, sql: "{CUBE}.status = {statuses.name}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: status, sql: status, type: string }
    measures:
      - { name: count, type: count }
  - name: statuses
    sql: select distinct status as name from files.orders
    dimensions:
      - { name: name, sql: name, type: string, primary_key: true, public: true }
    access_policy:
      - group: "*"
views:
  - name: guarded
    cubes:
      - { join_path: orders, includes: [count, status] }
      - { join_path: orders.customers, includes: [region] }
    access_policy:
      - group: "*"
  - name: bare
    cubes:
      - { join_path: orders, includes: [status] }
      - { join_path: orders.customers, includes: [region] }
  - name: empty
    cubes:
      - { join_path: orders, includes: [count] }
`;

let world: World;
let deploymentId: number;
let viewer: Client;
beforeAll(async () => {
  world = await createOwnWorld();
  await setting({ useCreatorMode: true });
  deploymentId = await createShop(world, { 'model/shop.yml': MODEL });
  viewer = (await world.embedded({ deploymentId, externalId: unique('viewer') })).client;
});
afterAll(() => world.stop());

type Client = World['admin'];
const setting = (body: object) => world.admin.updateTenantSettings({ body });
const load = async (client: Client, query: object) =>
  ((await client.load({ deploymentId, body: { query } })) as never as { data: Record<string, string>[] })
    .data;
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => expect.fail('the call succeeded'),
    ({ status, code, message }: OrielError) => ({ status, code, message }),
  );
const shownTo = async (client: Client) =>
  (
    (await client.getQueryMeta({ deploymentId })) as never as {
      cubes: { name: string; dimensions: { name: string }[]; measures: { name: string }[] }[];
    }
  ).cubes.flatMap(({ dimensions, measures }) => [...measures, ...dimensions].map(({ name }) => name));
const sql = (client: Client, query: string) => client.runSql({ deploymentId, body: { query } });

const OF_ORDERS = { measures: ['orders.count'] };
const GUARDED = [
  'customers.count',
  'customers.region',
  'customers.orders_count',
  'statuses.name',
  'guarded.count',
  'guarded.status',
  'guarded.region',
  'bare.region',
];

describe('for an embed viewer', () => {
  test('only what a policy of the cube or of the view guards exists', async () => {
    expect(await shownTo(viewer)).toEqual(GUARDED);
    const hidden = { status: 400, code: 'unknown_member' };
    for (const member of ['orders.status', 'bare.status', 'orders.no_such_member'])
      expect(await refusal(load(viewer, { dimensions: [member] }))).toEqual({
        ...hidden,
        message: `dimensions[0]: There is no member \`${member}\` that this query can use.`,
      });
    expect(await refusal(load(viewer, { measures: ['empty.count'] }))).toMatchObject(hidden);
    for (const table of ['orders', 'empty', 'no_such_table'])
      expect(await refusal(sql(viewer, `select count(*) from ${table}`))).toMatchObject({
        ...hidden,
        message: expect.stringContaining(`There is no cube or view \`${table}\``),
      });
    expect(await refusal(sql(viewer, 'select status from bare'))).toMatchObject(hidden);
  });

  test('a policy of the view opens what it includes, and those of cubes still apply', async () => {
    expect(await load(viewer, { measures: ['guarded.count'], dimensions: ['guarded.region'] })).toEqual([
      { 'guarded.region': 'EMEA', 'guarded.count': '4' },
    ]);
    expect(await load(viewer, { dimensions: ['bare.region'] })).toEqual([{ 'bare.region': 'EMEA' }]);
    expect(await load(viewer, { dimensions: ['customers.orders_count'] })).not.toEqual([]);
  });

  test('cubes are not joined through one that does not exist', async () => {
    const through = { dimensions: ['customers.region', 'statuses.name'] };
    expect(await refusal(load(viewer, through))).toMatchObject({ status: 400, code: 'no_join_path' });
    expect(await load(world.admin, through)).not.toEqual([]);
    // Neither by a hint, which says of it what it says of any other name.
    for (const name of ['orders', 'nothing']) {
      const hinted = { ...through, joinHints: [['customers', name, 'statuses']] };
      expect(await refusal(load(viewer, hinted))).toMatchObject({
        status: 400,
        message: expect.stringContaining(`There is no cube \`${name}\` that this query can use.`),
      });
    }
  });

  test('the creator of an embed tenant is one', async () => {
    const creator = await world.embedded({
      deploymentId,
      externalId: unique('creator'),
      embedTenantName: unique('tenant'),
      creatorMode: true,
    });
    expect(await shownTo(creator.client)).toEqual(GUARDED);
    expect(await refusal(load(creator.client, OF_ORDERS))).toMatchObject({ code: 'unknown_member' });
  });

  test('an explanation for a viewer says why', async () => {
    const explain = (viewer: object | undefined, member: string) =>
      world.admin.explainQuery({ deploymentId, body: { query: { dimensions: [member] }, viewer } });
    for (const member of ['orders.status', 'bare.status']) {
      const { hiddenMembers, error } = await explain({ groups: [] }, member);
      expect(error).toMatchObject({ code: 'unknown_member' });
      expect(hiddenMembers).toContainEqual({ member, why: expect.stringMatching(/^closed: no policy/) });
      expect((await explain(undefined, member)).error).toBeUndefined();
    }
  });
});

test('people, embedded or not, and environment tokens are not limited to what has a policy', async () => {
  const person = await world.person({ roles: ['Viewer'] });
  const { username } = await world.admin.getUser({ id: person.userId });
  const embedded = await world.embedded({ deploymentId, internalId: username });
  const { items } = await world.admin.getDeploymentEnvironments({ deploymentId });
  const { data } = await world.admin.createDeploymentEnvironmentToken({
    deploymentId,
    environmentId: items[0]!.id,
    body: { security_context: {} },
  });
  const holder = createOrielClient({ baseUrl: world.url, token: data.token });
  for (const client of [world.admin, person.client, embedded.client, holder]) {
    expect(await load(client, OF_ORDERS)).toEqual([{ 'orders.count': '5' }]);
    expect(await shownTo(client)).toEqual(expect.arrayContaining(['orders.count', 'empty.count']));
  }
  // Querying is not reading the model.
  expect(await refusal(holder.querySql({ deploymentId, body: { query: OF_ORDERS } }))).toEqual({
    status: 403,
    code: 'forbidden',
    message: 'This operation does not accept environment tokens.',
  });
});

test('a setting of the account opens what has no policy, and the next answers follow it', async () => {
  expect(await world.admin.getTenantSettings()).toMatchObject({ embedWithoutPolicies: false });
  await setting({ embedWithoutPolicies: true });
  expect(await load(viewer, OF_ORDERS)).toEqual([{ 'orders.count': '5' }]);
  expect(await shownTo(viewer)).toContain('orders.count');
  await setting({ embedWithoutPolicies: false });
  expect(await refusal(load(viewer, OF_ORDERS))).toMatchObject({ code: 'unknown_member' });
  expect(await shownTo(viewer)).toEqual(GUARDED);
});

test('the SQL of the model is told to those who may read it, and to creators if the account says so', async () => {
  const body = { query: { dimensions: ['customers.region'] } };
  const ask = (client: Client) => client.querySql({ deploymentId, body });
  const inAddress = (client: Client) =>
    client.querySqlByAddress({ deploymentId, query: JSON.stringify(body.query) });
  const refused = { status: 403, code: 'forbidden', message: expect.stringContaining('SchemaRead') };
  const creator = await world.embedded({
    deploymentId,
    externalId: unique('creator'),
    embedTenantName: unique('tenant'),
    creatorMode: true,
  });
  const person = await world.person({ roles: ['Viewer'] });
  for (const client of [viewer, creator.client, person.client]) {
    expect(await refusal(ask(client))).toEqual(refused);
    expect(await refusal(inAddress(client))).toEqual(refused);
  }
  const reader = await world.person({ roles: ['Explorer'] });
  expect(await ask(reader.client)).toHaveProperty('sql');
  expect(await inAddress(reader.client)).toHaveProperty('sql');

  await world.admin.updateAppConfig({ body: { creatorMode: { showGeneratedSql: true } } });
  expect(await ask(creator.client)).toHaveProperty('sql');
  expect(await refusal(ask(viewer))).toEqual(refused);
  await world.admin.updateAppConfig({ body: { creatorMode: { showGeneratedSql: false } } });
  expect(await refusal(ask(creator.client))).toEqual(refused);
});

test('the words of the data source are told to creators too if the account says so, and to no others', async () => {
  const gone = `cubes:
  - { name: gone, sql_table: files.secret_name, measures: [{ name: count, type: count }], access_policy: [{ group: "*" }] }
`;
  const id = await createShop(world, { 'model/gone.yml': gone });
  const told = async (client: Client) =>
    (await refusal(client.load({ deploymentId: id, body: { query: { measures: ['gone.count'] } } }))).message;
  const embedded = async (more: object) =>
    (await world.embedded({ deploymentId: id, externalId: unique('viewer'), ...more })).client;
  const creator = await embedded({ embedTenantName: unique('tenant'), creatorMode: true });
  const others = [await embedded({}), (await world.person({ roles: ['Viewer'] })).client];
  await world.admin.updateAppConfig({ body: { creatorMode: { showGeneratedSql: true } } });
  expect(await told(creator)).toContain('secret_name');
  for (const client of others) expect(await told(client)).not.toContain('secret_name');
  await world.admin.updateAppConfig({ body: { creatorMode: { showGeneratedSql: false } } });
  expect(await told(creator)).not.toContain('secret_name');
});
