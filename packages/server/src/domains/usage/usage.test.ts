/** What was used is counted once for each event, at every server, and stays when the embed tenant is gone. */
import { createOrielClient } from '@oriel/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedFetch } from '../../../test/checked-fetch.ts';
import { deployModel, SHOP_FILES, SHOP_MODEL } from '../../../test/shops.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';
import { mergeUsage } from './index.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld();
  ({ id: deploymentId } = await world.deployment());
  await world.writeFiles(deploymentId, SHOP_FILES);
  await deployModel(world, deploymentId, SHOP_MODEL);
});
afterAll(() => world?.stop());

const usageOf = async (embedTenantName: string) => {
  const { items } = await world.admin.getUsage({ embedTenantName });
  return items.map(({ day: _, ...counted }) => counted);
};

const SESSIONS = 12;
const QUERIES = 7;

test('sessions, viewers, queries and rows of two servers are exact, also after the days are put together', async () => {
  const embedTenantName = unique('customer');
  const other = await world.anotherServer();
  const [one, two] = [unique('viewer'), unique('viewer')];
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, (_, i) =>
      world.embedded({ deploymentId, embedTenantName, externalId: i % 2 ? one : two }),
    ),
  );
  const clients = [world.url, other.url].map((baseUrl) =>
    createOrielClient({ baseUrl, token: sessions[0]!.token, fetch: checkedFetch, retries: 0 }),
  );
  // Five rows each; the first of each server runs, the others are known. Two queries in one request are two.
  for (const client of clients)
    for (let i = 0; i < QUERIES; i++)
      await client.load({ deploymentId, body: { query: { dimensions: ['orders.id'] } } });
  await clients[0]!.load({
    deploymentId,
    body: { query: [{ dimensions: ['orders.id'] }, { measures: ['orders.count'] }], queryType: 'multi' },
  });
  // What is refused is not counted.
  await expect(
    clients[0]!.load({ deploymentId, body: { query: { measures: ['orders.nothing'] } } }),
  ).rejects.toMatchObject({ code: 'unknown_member' });
  await expect(
    world.admin.generateSession({
      body: { deploymentId, embedTenantName, externalId: one, groups: ['nobody'] },
    }),
  ).rejects.toMatchObject({ status: 400 });

  const counted = {
    embedTenantName,
    sessions: SESSIONS,
    viewers: 2,
    queries: 2 * QUERIES + 2,
    cachedQueries: 2 * (QUERIES - 1),
    rows: 5 * (2 * QUERIES + 1) + 1,
  };
  await expect.poll(() => usageOf(embedTenantName), { timeout: 20_000 }).toEqual([counted]);

  const { db } = world.server;
  await mergeUsage(db, AbortSignal.timeout(30_000), Date.now() + 5 * 86_400_000);
  const { rows } = await db.pool.query('select run from usage_counters where embed_tenant = $1', [
    embedTenantName,
  ]);
  expect(rows).toEqual([{ run: '' }]);
  expect(await usageOf(embedTenantName)).toEqual([counted]);

  const csv = await world.raw('GET', `/api/v1/usage/export?embedTenantName=${embedTenantName}`);
  const today = new Date().toISOString().slice(0, 10);
  expect((await csv.text()).trim().split(/\r?\n/)).toEqual([
    'day,embedTenantName,sessions,viewers,queries,cachedQueries,rows',
    `${today},${embedTenantName},${SESSIONS},2,${2 * QUERIES + 2},${2 * (QUERIES - 1)},${counted.rows}`,
  ]);

  await world.admin.deleteEmbedTenant({ embedTenantName });
  expect(await usageOf(embedTenantName)).toEqual([counted]);
});

test('what people of the account use is counted without an embed tenant', async () => {
  const countOwn = async () =>
    (await world.admin.getUsage({})).items.find(({ embedTenantName }) => embedTenantName === null)?.queries ??
    0;
  const before = await countOwn();
  await world.admin.load({ deploymentId, body: { query: { measures: ['customers.count'] } } });
  expect(await countOwn()).toBe(before + 1);
});

test('days are days of the calendar, and a request is about at most 400 of them', async () => {
  const refusal = (query: object) =>
    world.admin.getUsage(query).then(
      () => 'taken',
      ({ code, issues }) => [code, issues?.[0]?.path],
    );
  expect(await refusal({ from: '2026-02-30' })).toEqual(['invalid_request', 'from']);
  expect(await refusal({ from: '2026-02-02', to: '2026-02-01' })).toEqual(['invalid_request', 'from']);
  expect(await refusal({ from: '2020-01-01', to: '2026-02-01' })).toEqual(['invalid_request', 'from']);
  expect(await refusal({ from: '2026-01-01', to: '2026-02-01' })).toBe('taken');
  const { client } = await world.person({ roles: ['Developer'] });
  await expect(client.getUsage({})).rejects.toMatchObject({ status: 403 });
});
