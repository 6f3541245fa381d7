import type { OrielClient } from '@oriel/client';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modeller, readFiles } from '../../../test/data-models.ts';
import { startFront } from '../../../test/front-of-postgres.ts';
import { createSourceDatabase, type SourceDatabase, variablesOf } from '../../../test/source-database.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

let world: World;
let shop: SourceDatabase;
let admin: OrielClient;

beforeAll(async () => {
  // The databases of these tests are on loopback.
  world = await createOwnWorld({ env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true', ORIEL_DEMO: 'true' } });
  admin = world.admin;
  shop = await createSourceDatabase(`
    create table customers (id bigint primary key, name text);
    insert into customers values (1, 'Ada'), (2, 'Bob');
    create table orders (id bigint primary key, customer_id bigint references customers, amount numeric);
    insert into orders values (1, 1, 10.5), (2, 1, 20), (3, 2, 5);
    create schema archive;
    create table archive.orders (id bigint primary key)`);
});
afterAll(async () => {
  await world.stop();
  await shop.stop();
});

async function deploymentWith(env_variables: { name: string; value: string }[]): Promise<number> {
  const { id: deploymentId } = await world.deployment();
  if (env_variables.length) await admin.setEnvVariables({ deploymentId, body: { env_variables } });
  return deploymentId;
}

test('a database becomes a model that answers queries', async () => {
  const deploymentId = await deploymentWith(variablesOf(shop.source));
  const { message, isReachable } = await admin.testDataSource({ deploymentId, name: 'default' });
  expect([isReachable, message]).toEqual([true, expect.stringMatching(/^PostgreSQL .* answers\.$/)]);
  const { items } = await admin.listDataSourceTables({ deploymentId, name: 'default' });
  expect(items.map(({ schema, name }) => `${schema}.${name}`)).toEqual([
    'archive.orders',
    'public.customers',
    'public.orders',
  ]);
  expect(items[2]).toMatchObject({
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['customer_id'], toSchema: 'public', toTable: 'customers', toColumns: ['id'] }],
  });

  const { branchName } = await admin.startDevMode({ deploymentId, body: {} });
  const tables = [{ name: 'customers' }, { schema: 'public', name: 'orders' }];
  expect(await admin.generateDataModel({ deploymentId, body: { tables } })).toEqual({
    branchName,
    written: ['model/cubes/customers.yml', 'model/cubes/orders.yml'],
    skipped: [],
  });
  expect(await admin.validateDataModel({ deploymentId })).toMatchObject({ valid: true, errors: [] });
  await admin.commitChanges({ deploymentId, body: { message: 'Draft' } });
  await admin.mergeToDefaultBranch({ deploymentId, body: { branchName } });
  await expect
    .poll(async () => (await admin.buildStatus({ deploymentId, branchName: 'main' })).status)
    .toBe('built');
  const query = { measures: ['orders.total_amount'], dimensions: ['customers.name'] };
  const response = await world.raw('POST', `/query/api/v1/deployments/${deploymentId}/load`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  expect(((await response.json()) as { data: unknown }).data).toEqual([
    { 'customers.name': 'Ada', 'orders.total_amount': '30.5' },
    { 'customers.name': 'Bob', 'orders.total_amount': '5' },
  ]);
});

test('files are tables too, of a source with a name, and their names tell the joins', async () => {
  const deploymentId = await deploymentWith([{ name: 'DS_FILES_DB_TYPE', value: 'duckdb' }]);
  await world.writeFiles(deploymentId, {
    'orders.csv': 'id,customer_id,amount\n1,1,10.5\n',
    'customers.csv': 'id,name\n1,Ada\n',
  });
  expect(await admin.testDataSource({ deploymentId, name: 'files' })).toEqual({
    isReachable: true,
    message: 'DuckDB reads 2 files.',
    reason: null,
  });
  const { client, read } = await modeller(world, deploymentId);
  await client.generateDataModel({ deploymentId, body: { dataSource: 'files' } });
  const { 'model/cubes/orders.yml': text } = await read();
  expect(text).toContain('sql_table: files.orders\n    data_source: files\n');
  expect(text).toContain('sql: "{CUBE}.customer_id = {customers}.id"');
  expect(await client.validateDataModel({ deploymentId })).toMatchObject({ valid: true });
});

test('the tables of the demo are there before its first query', async () => {
  const { items } = await admin.listDataSourceTables({ deploymentId: 1, name: 'default' });
  expect(items.map(({ name }) => name)).toEqual(['customers', 'events', 'line_items', 'orders', 'products']);
});

describe('drafts', () => {
  test('replace no file, unless that is asked for', async () => {
    const deploymentId = await deploymentWith([]);
    await world.writeFiles(deploymentId, { 'orders.csv': 'id\n1\n', 'customers.csv': 'id\n1\n' });
    const path = 'model/cubes/orders.yml';
    const { client, branchName, write } = await modeller(world, deploymentId);
    await write({ [path]: '# mine\n' });
    expect(await client.generateDataModel({ deploymentId, body: {} })).toMatchObject({
      written: ['model/cubes/customers.yml'],
      skipped: [path],
    });
    expect((await readFiles(client, deploymentId, branchName))[path]).toBe('# mine\n');
    await client.generateDataModel({ deploymentId, body: { overwrite: true } });
    expect((await readFiles(client, deploymentId, branchName))[path]).toContain('name: orders');
  });

  test('of tables that are missing or not clear are refused, and nothing is written', async () => {
    const deploymentId = await deploymentWith(variablesOf(shop.source));
    const { client, read } = await modeller(world, deploymentId);
    const before = await read();
    const tables = [{ name: 'customers' }, { name: 'orders' }, { schema: 'archive', name: 'gone' }];
    await expect(client.generateDataModel({ deploymentId, body: { tables } })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_reference',
      issues: [
        { path: 'tables[1]', message: 'several schemas have a table orders: archive, public' },
        { path: 'tables[2]', message: 'there is no table gone' },
      ],
    });
    expect(await read()).toEqual(before);
  });

  test('go to a branch in dev mode only', async () => {
    const deploymentId = await deploymentWith([]);
    await expect(admin.generateDataModel({ deploymentId, body: {} })).rejects.toMatchObject({
      status: 409,
      code: 'not_in_dev_mode',
    });
  });
});

describe('a source that cannot be used', () => {
  test('is unknown, or its variables are wrong, and no secret is told', async () => {
    const deploymentId = await deploymentWith([
      { name: 'DS_EU_DB_TYPE', value: 'postgres' },
      { name: 'DS_EU_DB_PASS', value: 'hunter2hunter2' },
      { name: 'DS_EU_DB_HOST', value: '/var/run/postgresql' },
    ]);
    for (const name of ['nothing', 'EU', '../eu', '"', '__proto__']) {
      const unknown = {
        status: 404,
        code: 'data_source_not_found',
        message: `There is no data source \`${name}\`. The variables of the deployment describe: \`default\`.`,
      };
      await expect(admin.testDataSource({ deploymentId, name })).rejects.toMatchObject(unknown);
      await expect(admin.listDataSourceTables({ deploymentId, name })).rejects.toMatchObject(unknown);
    }
    await expect(admin.testDataSource({ deploymentId, name: 'x'.repeat(101) })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
    const tested = admin.listDataSourceTables({ deploymentId, name: 'eu' });
    const error = await tested.catch((reason: unknown) => reason as Error & { code: string });
    expect(error).toMatchObject({ status: 409, code: 'data_source_invalid' });
    expect((error as Error).message).toMatch(/DS_EU_DB_NAME must be set.*DS_EU_DB_HOST must be a host name/);
    expect((error as Error).message).not.toContain('hunter2');
  });

  test('cannot be reached', async () => {
    const { port, stop } = await startFront({ refusal: () => undefined });
    stop();
    const deploymentId = await deploymentWith(variablesOf({ ...shop.source, port }));
    expect(await admin.testDataSource({ deploymentId, name: 'default' })).toMatchObject({
      isReachable: false,
      message: expect.stringContaining('ECONNREFUSED'),
    });
    await expect(admin.listDataSourceTables({ deploymentId, name: 'default' })).rejects.toMatchObject({
      status: 503,
      code: 'data_source_failed',
    });
  });

  test('is our own database', async () => {
    const { database, user, password } = new pg.Client({ connectionString: world.databaseUrl });
    const own = { ...shop.source, database: database!, user: user!, password: password ?? 'none' };
    const deploymentId = await deploymentWith(variablesOf(own));
    expect(await admin.testDataSource({ deploymentId, name: 'default' })).toEqual({
      isReachable: false,
      message: 'This is the database of the server itself, which no query may read.',
      reason: 'other',
    });
  });
});

test('some rows of a table can be read, with how many there are, and nothing that is no table', async () => {
  const deploymentId = await deploymentWith(variablesOf(shop.source));
  const sample = (table: string, schema = 'public', client = admin) =>
    client.sampleDataSourceTable({ deploymentId, name: 'default', schema, table });
  expect(await sample('orders')).toEqual({
    columns: ['id', 'customer_id', 'amount'],
    rows: [
      ['1', '1', '10.5'],
      ['2', '1', '20'],
      ['3', '2', '5'],
    ],
    rowCount: 3,
  });
  for (const [table, schema] of [
    ['orders" union select 1 --', 'public'],
    ['pg_authid', 'pg_catalog'],
    ['orders', 'other'],
  ])
    await expect(sample(table!, schema)).rejects.toMatchObject({ status: 400, code: 'invalid_reference' });
  const demo = await admin.sampleDataSourceTable({
    deploymentId: 1,
    name: 'default',
    schema: 'files',
    table: 'orders',
  });
  expect(demo.rows).toHaveLength(20);
  expect(demo.rowCount).toBeGreaterThan(20);
  const viewer = await world.person({ roles: ['Viewer'] });
  await expect(sample('orders', 'public', viewer.client)).rejects.toMatchObject({ status: 403 });
});
