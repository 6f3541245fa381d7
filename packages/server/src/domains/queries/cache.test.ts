/** Results that are used again, by whom and for how long. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modeller } from '../../../test/data-models.ts';
import { createShop, deployModel, SHOP_FILES, SHOP_MODEL } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = await createShop(world);
});
afterAll(() => world.stop());

interface Answer {
  data: Record<string, string>[];
  /** Another time means that the data source was asked again. */
  lastRefreshTime: string;
}

async function load(query: object, { id = deploymentId, ...more }: { id?: number; cache?: 'no-cache' } = {}) {
  return (await world.admin.load({ deploymentId: id, body: { query, ...more } })) as unknown as Answer;
}

const AMOUNT = { measures: ['orders.amount'] };
const moreOrders = (id: number, line: string) =>
  world.writeFiles(id, { 'orders.csv': SHOP_FILES['orders.csv'] + line });

test('an answer is used again, until the query asks for a new one', async () => {
  const first = await load(AMOUNT);
  expect(await load(AMOUNT)).toEqual(first);
  const renewed = await load({ ...AMOUNT, renewQuery: true });
  expect(renewed.lastRefreshTime > first.lastRefreshTime).toBe(true);
  expect(await load(AMOUNT)).toEqual(renewed);
  const again = await load(AMOUNT, { cache: 'no-cache' });
  expect(again.lastRefreshTime > renewed.lastRefreshTime).toBe(true);
});

test('an answer is not used after a file has changed', async () => {
  const id = await createShop(world);
  expect((await load(AMOUNT, { id })).data).toEqual([{ 'orders.amount': '43.75' }]);
  await moreOrders(id, '6,1,new,0.25,2024-03-02\n');
  expect((await load(AMOUNT, { id })).data).toEqual([{ 'orders.amount': '44' }]);
});

test('another query, another value or another deployment gets an answer of its own', async () => {
  const other = await createShop(world);
  await moreOrders(other, '6,1,new,0.25,2024-03-02\n');
  const withStatus = (status: string) => ({
    ...AMOUNT,
    filters: [{ member: 'orders.status', operator: 'equals', values: [status] }],
  });
  const amounts = [];
  for (const query of [AMOUNT, withStatus('new'), withStatus('done')]) {
    for (const id of [deploymentId, other])
      amounts.push((await load(query, { id })).data[0]!['orders.amount']);
  }
  expect(amounts).toEqual(['43.75', '44', '11.5', '11.75', '32.25', '32.25']);
});

test('the next query uses what was built last, and the variables of the deployment', async () => {
  const id = await createShop(world);
  expect((await load(AMOUNT, { id })).data).toEqual([{ 'orders.amount': '43.75' }]);
  const doubled = SHOP_MODEL['model/cubes/shop.yml'].replace('sql: amount', 'sql: 2 * amount');
  await deployModel(world, id, { 'model/cubes/shop.yml': doubled });
  expect((await load(AMOUNT, { id })).data).toEqual([{ 'orders.amount': '87.5' }]);
  await world.admin.setEnvVariables({
    deploymentId: id,
    body: { env_variables: [{ name: 'DB_TYPE', value: 'postgres' }] },
  });
  await expect.poll(() => load(AMOUNT, { id }).catch(({ code }) => code)).toBe('source_not_configured');
  await world.admin.deleteEnvVariable({ deploymentId: id, name: 'DB_TYPE' });
  await expect
    .poll(async () => (await load(AMOUNT, { id }).catch(() => ({ data: [] }))).data)
    .toEqual([{ 'orders.amount': '87.5' }]);
});

const withRefreshKey = (key: string) => ({
  'model/cubes/shop.yml': SHOP_MODEL['model/cubes/shop.yml'].replace(
    'sql_table: files.orders\n',
    `sql_table: files.orders\n    refresh_key: ${key}\n`,
  ),
});

test.each([
  ['its time is over', '{ every: 1 second }'],
  ['its query returns something else', '{ sql: "select epoch(now())::bigint", every: 1 second }'],
])('a refresh key lets an answer be used until %s', async (_, key) => {
  const id = await createShop(world, { ...SHOP_MODEL, ...withRefreshKey(key) });
  const first = await load(AMOUNT, { id });
  await expect.poll(async () => (await load(AMOUNT, { id })).lastRefreshTime).not.toBe(first.lastRefreshTime);
});

test.each([['{ every: 1 hour }'], ['{ sql: "select 1", every: 1 hour }']])(
  'an answer is used again while its refresh key allows it: %s',
  async (key) => {
    const id = await createShop(world, { ...SHOP_MODEL, ...withRefreshKey(key) });
    const first = await load(AMOUNT, { id });
    expect((await load(AMOUNT, { id })).lastRefreshTime).toBe(first.lastRefreshTime);
  },
);

test('what a refresh key must not say is an error of the model', async () => {
  const { id } = await world.deployment();
  for (const [key, message] of [
    ['{ every: 1 month }', 'Write `every` in weeks, days or shorter units.'],
    ['{ sql: "select {CUBE}.id" }', 'The `sql` of a `refresh_key` is a query, and takes no references.'],
    ['{}', '`refresh_key` needs `every`, `sql` or both.'],
  ] as const) {
    const { client, branchName, write } = await modellerOf(id);
    await write({ ...SHOP_MODEL, ...withRefreshKey(key) });
    const { errors } = await client.validateDataModel({ deploymentId: id, branchName });
    expect(errors.map((error) => error.message).join(' ')).toContain(message);
  }
});

const modellerOf = (id: number) =>
  modeller(world, id, {
    branch: unique('keys'),
    client: world.admin,
  });
