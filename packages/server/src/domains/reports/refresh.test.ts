import { afterAll, beforeAll, expect, test } from 'vitest';
import { createShop } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = await createShop(world);
});
afterAll(() => world.stop());

const QUERY = { measures: ['orders.count'], dimensions: ['customers.region'] };
const reportWith = async (query: unknown) =>
  (await world.admin.createReport({ deploymentId, body: { jsonQuery: JSON.stringify(query) } })).id;
const refreshTime = async () =>
  (
    (await world.admin.load({ deploymentId, body: { query: QUERY } })) as unknown as {
      lastRefreshTime: string;
    }
  ).lastRefreshTime;

test('a refresh runs the query again, and the report says by whom', async () => {
  const reportId = await reportWith(QUERY);
  const before = await refreshTime();
  const { version, updatedAt, refreshedBy } = await world.admin.getReport({ deploymentId, reportId });
  expect(refreshedBy).toBeNull();
  const { id: me } = await world.admin.getMe();
  const refreshed = await world.admin.refreshReport({ deploymentId, reportId });
  expect(refreshed).toMatchObject({
    id: reportId,
    refreshedBy: me,
    refreshedByUser: { id: me },
    version,
    updatedAt,
  });
  expect((await refreshTime()) > before).toBe(true);
  const { rows } = await world.server.db.pool.query('select refreshed_at from reports where id = $1', [
    reportId,
  ]);
  expect(rows[0].refreshed_at).not.toBeNull();
});

test('a query that fails is reported, and the report was not refreshed', async () => {
  const refusals: [unknown, number, string][] = [
    [{ measures: ['orders.nothing'] }, 400, 'unknown_member'],
    [7, 400, 'invalid_request'],
    [{ measures: 'x' }, 400, 'invalid_query'],
  ];
  for (const [query, status, code] of refusals) {
    const reportId = await reportWith(query);
    await expect(world.admin.refreshReport({ deploymentId, reportId })).rejects.toMatchObject({
      status,
      code,
    });
    expect((await world.admin.getReport({ deploymentId, reportId })).refreshedBy).toBeNull();
  }
  const { id } = await world.admin.createReport({ deploymentId, body: {} });
  const without = world.admin.refreshReport({ deploymentId, reportId: id });
  await expect(without).rejects.toMatchObject({ status: 409, code: 'report_without_query' });
});

test('a refresh runs the SQL of a report, for the caller', async () => {
  const reportOf = async (sqlQuery: string) =>
    (await world.admin.createReport({ deploymentId, body: { sqlQuery } })).id;
  const reportId = await reportOf('select status, measure(amount) from orders group by 1');
  const { id: me } = await world.admin.getMe();
  const refreshed = await world.admin.refreshReport({ deploymentId, reportId });
  expect(refreshed).toMatchObject({ id: reportId, refreshedBy: me, refreshedByUser: { id: me } });
  for (const [sqlQuery, code] of [
    ['select nothing from orders', 'unknown_member'],
    ['delete from orders', 'unsupported_query'],
    ['select status from', 'invalid_query'],
    ['select cast(status as integer) from orders', 'value_invalid'],
  ] as const) {
    const wrong = await reportOf(sqlQuery);
    const outcome = world.admin.refreshReport({ deploymentId, reportId: wrong });
    await expect(outcome).rejects.toMatchObject({ status: 400, code });
    expect((await world.admin.getReport({ deploymentId, reportId: wrong })).refreshedBy).toBeNull();
  }
});

test('who cannot read a report cannot refresh it', async () => {
  const reportId = await reportWith(QUERY);
  const stranger = await world.person({ roles: ['Viewer'] });
  const refused = stranger.client.refreshReport({ deploymentId, reportId });
  await expect(refused).rejects.toMatchObject({ status: 404, code: 'report_not_found' });
  const creator = await world.embedded({
    deploymentId,
    externalId: unique('creator'),
    creatorMode: true,
    embedTenantName: unique('tenant'),
  });
  const elsewhere = creator.client.refreshReport({ deploymentId, reportId });
  await expect(elsewhere).rejects.toMatchObject({ status: 404, code: 'report_not_found' });
});
