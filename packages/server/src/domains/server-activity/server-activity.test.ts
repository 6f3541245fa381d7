/** Engines with their memory, how data sources answered, and the figures of the last hours. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { mergeHealth, p95Of } from './rules.ts';
import { insertMinute } from './store.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true', ORIEL_ALLOW_PRIVATE_REMOTES: 'true' } });
  deploymentId = 1;
});
afterAll(() => world?.stop());

test('an engine is listed with its memory, and its source as one that answers; a source that does not, with the reason', async () => {
  const variables = {
    DB_TYPE: 'postgres',
    DB_HOST: '127.0.0.1',
    DB_PORT: '1',
    DB_NAME: 'x',
    DB_USER: 'x',
    DB_PASS: 'secret-pass',
  };
  const env_variables = Object.entries(variables).map(([name, value]) => ({
    name: `DS_GONE_${name}`,
    value,
  }));
  await world.admin.setEnvVariables({
    deploymentId,
    body: { env_variables: [...env_variables, { name: 'DATASOURCES', value: 'default,gone' }] },
  });
  await world.admin.testDataSource({ deploymentId, name: 'default' });
  await world.admin.testDataSource({ deploymentId, name: 'gone' });

  const { items: engines } = await world.admin.listEngineProcesses({});
  const first = engines.find(({ dataSource }) => dataSource === 'default');
  expect(first).toMatchObject({ deploymentId, type: 'duckdb', state: 'idle', queries: 0 });
  expect(first!.memoryBytes).toBeGreaterThan(10_000_000);
  const { items: health } = await world.admin.listDataSourceHealth({});
  expect(health).toMatchObject([
    { dataSource: 'default', state: 'ok', lastError: null, lastOkAt: expect.any(String) },
    { dataSource: 'gone', state: 'failing', lastError: expect.any(String), lastOkAt: null },
  ]);
  expect(JSON.stringify(health)).not.toContain('secret-pass');

  const { client } = await world.person({ roles: ['Developer'] });
  for (const ask of [
    client.listEngineProcesses({}),
    client.listDataSourceHealth({}),
    client.getServerMetrics({}),
  ])
    await expect(ask).rejects.toMatchObject({ status: 403 });
});

test('the minutes of two servers are added up', async () => {
  const { pool } = world.server.db;
  const insert = `insert into server_minutes values (date_trunc('hour', now()) - interval '1 hour', $1, 100, 1, $2, 3, 20, 5, $3)`;
  await pool.query(insert, ['a', [90, 10, 0, 0, 0, 0, 0, 0, 0, 0], 12]);
  await pool.query(insert, ['b', [100, 0, 0, 0, 0, 0, 0, 0, 0, 0], 15]);
  // A server that stops writes what it has counted of its last minute, too.
  const more = { requests: 4, errors: 0, latency: [1, 3], sessions: 1, queries: 2, cachedQueries: 0 };
  const { db } = world.server;
  for (let i = 0; i < 2; i++) await insertMinute(db, 'c', more);
  const { rows } = await pool.query(
    `select sum(requests)::int as requests, sum(latency[2])::int as slow from server_minutes where run = 'c'`,
  );
  expect(rows).toEqual([{ requests: 8, slow: 6 }]);
  const { points } = await world.admin.getServerMetrics({ hours: 24 });
  expect(points[0]).toMatchObject({
    requests: 200,
    errors: 2,
    sessions: 6,
    queries: 40,
    cachedQueries: 10,
    connections: 15,
    p95Ms: 10,
  });
});

test('the 95th of 100', () => {
  expect(p95Of([10, 20], [0, 0, 0])).toBeNull();
  expect(p95Of([10, 20], [95, 5, 0])).toBe(10);
  expect(p95Of([10, 20], [90, 10, 0])).toBe(15);
  expect(p95Of([10, 20], [0, 0, 7])).toBe(20);
});

test('what two servers know of one source is one, with the newest of both', () => {
  const source = { deploymentId: 1, dataSource: 'default', type: 'postgres' };
  expect(
    mergeHealth([
      { ...source, lastOkAt: '2026-01-02', lastErrorAt: '2026-01-01', lastError: 'old' },
      { ...source, lastOkAt: '2026-01-01', lastErrorAt: '2026-01-03', lastError: 'new' },
    ]),
  ).toEqual([{ ...source, lastOkAt: '2026-01-02', lastErrorAt: '2026-01-03', lastError: 'new' }]);
});
