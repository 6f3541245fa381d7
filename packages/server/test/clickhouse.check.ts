/** A deployment whose data is in ClickHouse itself. See `npm run test:clickhouse`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clickHouseSource, createInClickHouse } from './clickhouse-source.ts';
import { deployModel } from './shops.ts';
import { variablesOf } from './source-database.ts';
import { createOwnWorld, unique, type World } from './world.ts';

const REGION = unique('region').replaceAll('-', '_');
const source = clickHouseSource('shop')!;

const TABLES = `
create table customers (id UInt64 not null, name LowCardinality(String) not null, region text, tenant_id bigint) engine = ReplacingMergeTree order by id;
insert into customers values
  (1, 'Ada', 'EMEA', 9007199254740992), (2, 'Bob', 'AMER', 9007199254740993), (3, 'Cyd', 'EMEA', 9007199254740993);
create table orders (id UInt64 not null, customer_id UInt64 not null, amount Decimal(10, 2), at DateTime('Europe/Berlin') not null) engine = MergeTree order by (customer_id, at);
insert into orders values
  (1, 1, 10.5, '2024-01-10 08:00:00'), (2, 1, 20, '2024-02-01 00:30:00'), (3, 2, 5.25, '2024-02-01 01:30:00'), (4, 9, 1, '2024-02-01 12:00:00')`;

const POLICY = `    access_policy:
      - group: "*"
        row_level:
          filters:
            - or:
                - { member: region, operator: equals, values: ["{ userAttributes.${REGION} }"] }
                - { member: tenant_id, operator: equals, values: ["{ securityContext.tenant.id }"] }
`;

let world: World;
let deploymentId: number;

beforeAll(async () => {
  await createInClickHouse(source, TABLES);
  // ClickHouse is on loopback.
  world = await createOwnWorld({ env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true' } });
  await world.admin.createUserAttribute({ body: { name: REGION, type: 'string', displayName: REGION } });
  deploymentId = (await world.deployment()).id;
  await world.admin.setEnvVariables({ deploymentId, body: { env_variables: variablesOf(source) } });
});
afterAll(() => world.stop());

async function rowsOf(client: World['admin'], query: object) {
  const answer = await client.load({ deploymentId, body: { query } });
  return (answer as never as { data: Record<string, string>[] }).data;
}

test('a database becomes a model that answers queries', async () => {
  const { admin } = world;
  expect(await admin.testDataSource({ deploymentId, name: 'default' })).toEqual({
    isReachable: true,
    message: expect.stringMatching(/^ClickHouse \d+\.\d[\d.]* answers\.$/),
  });
  const { items } = await admin.listDataSourceTables({ deploymentId, name: 'default' });
  const [customers, orders] = items.filter(({ schema }) => schema === 'shop');
  expect(customers).toMatchObject({
    name: 'customers',
    primaryKey: ['id'],
    columns: [
      { name: 'id', type: 'number', nativeType: 'UInt64', isNullable: false },
      { name: 'name', type: 'string' },
      { name: 'region', type: 'string', isNullable: true },
      { name: 'tenant_id', type: 'number' },
    ],
  });
  expect(orders).toMatchObject({ name: 'orders', primaryKey: [], foreignKeys: [] });

  const { branchName } = await admin.startDevMode({ deploymentId, body: {} });
  const tables = [
    { schema: 'shop', name: 'customers' },
    { schema: 'shop', name: 'orders' },
  ];
  expect(await admin.generateDataModel({ deploymentId, body: { tables } })).toMatchObject({
    written: ['model/cubes/customers.yml', 'model/cubes/orders.yml'],
  });
  expect(await admin.validateDataModel({ deploymentId })).toMatchObject({ valid: true, errors: [] });
  await admin.commitChanges({ deploymentId, body: { message: 'Draft' } });
  await admin.mergeToDefaultBranch({ deploymentId, body: { branchName } });
  await expect
    .poll(async () => (await admin.buildStatus({ deploymentId, branchName: 'main' })).status)
    .toBe('built');
  expect(
    await rowsOf(admin, {
      measures: ['orders.count', 'orders.total_amount', 'orders.average_amount'],
      dimensions: ['customers.name'],
      timeDimensions: [{ dimension: 'orders.at', granularity: 'month' }],
      order: [
        ['orders.at', 'asc'],
        ['customers.name', 'asc'],
      ],
      timezone: 'UTC',
    }),
  ).toMatchObject([
    {
      'customers.name': 'Ada',
      'orders.count': '2',
      'orders.total_amount': '30.5',
      'orders.average_amount': '15.25',
    },
    { 'customers.name': 'Bob', 'orders.at.month': '2024-02-01T00:00:00.000', 'orders.total_amount': '5.25' },
    { 'customers.name': null, 'orders.count': '1' },
  ]);
});

describe('a model with policies', () => {
  beforeAll(async () => {
    await deployModel(world, deploymentId, {
      'model/cubes/customers.yml': `cubes:
  - name: customers
    sql_table: shop.customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: region, sql: region, type: string }
      - { name: tenant_id, sql: tenant_id, type: number }
    measures:
      - { name: count, type: count }
${POLICY}`,
      'model/cubes/orders.yml': `cubes:
  - name: orders
    sql_table: shop.orders
    joins:
      - { name: customers, relationship: many_to_one, sql: "{CUBE}.customer_id = {customers.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
    measures:
      - { name: count, type: count }
      - { name: failing, type: number, sql: "sum(throwIf({CUBE}.id > 0))" }
    access_policy: [{ group: "*" }]
`,
    });
  });
  const session = (more: object) =>
    world.embedded({ deploymentId, externalId: unique('viewer'), ...more } as never);
  const idsOf = async (more: object) => {
    const rows = await rowsOf((await session(more)).client, { dimensions: ['customers.id'] });
    return rows.map((row) => row['customers.id']);
  };

  test('each viewer sees the rows of their attributes, and who has none sees nothing', async () => {
    expect(await idsOf({ userAttributes: [{ name: REGION, value: 'EMEA' }] })).toEqual(['1', '3']);
    expect(await idsOf({ userAttributes: [{ name: REGION, value: "x' or '1' = '1" }] })).toEqual([]);
    expect(await idsOf({})).toEqual([]);
  });

  test('ids above 2^53 are told apart', async () => {
    const holding = (id: string) => idsOf({ securityContext: { tenant: { id } } });
    expect(await holding('9007199254740992')).toEqual(['1']);
    expect(await holding('9007199254740993')).toEqual(['2', '3']);
  });

  test('a count of nothing is 0, and a policy of a cube that is passed through applies', async () => {
    const { client } = await session({ userAttributes: [{ name: REGION, value: 'AMER' }] });
    expect(await rowsOf(client, { measures: ['orders.count'], dimensions: ['customers.region'] })).toEqual([
      { 'customers.region': 'AMER', 'orders.count': '1' },
    ]);
    expect(await rowsOf((await session({})).client, { measures: ['customers.count'] })).toEqual([
      { 'customers.count': '0' },
    ]);
  });

  test('what ClickHouse refuses is an error with a code, and the next query works', async () => {
    await expect(rowsOf(world.admin, { measures: ['orders.failing'] })).rejects.toMatchObject({
      code: expect.stringMatching(/value_invalid|query_failed/),
    });
    expect(await rowsOf(world.admin, { measures: ['orders.count'] })).toEqual([{ 'orders.count': '4' }]);
  });
});
