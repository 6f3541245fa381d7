/** Queries that run are listed on every server, and end where they run when an admin says so. */
import { createOrielClient } from '@oriel/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedFetch } from '../../../test/checked-fetch.ts';
import { deployModel } from '../../../test/shops.ts';
import { createSourceDatabase, type SourceDatabase, variablesOf } from '../../../test/source-database.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

const MODEL = `cubes:
  - name: slow
    sql: "select 1 as id, pg_sleep(600)::text as text /* sleeps */"
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: text, sql: text, type: string }
    access_policy: [{ group: "*" }]
  - name: lazy
    sql: "select i as id, pg_sleep(0.6)::text as text from generate_series(1, 2) i"
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: text, sql: text, type: string }
    access_policy: [{ group: "*" }]
`;

let world: World;
let source: SourceDatabase;
let deploymentId: number;
beforeAll(async () => {
  // The database of this file is on loopback.
  world = await createWorld({ ORIEL_ALLOW_PRIVATE_REMOTES: 'true' });
  source = await createSourceDatabase('select 1');
  ({ id: deploymentId } = await world.deployment());
  await world.admin.setEnvVariables({ deploymentId, body: { env_variables: variablesOf(source.source) } });
  await deployModel(world, deploymentId, { 'model/cubes/slow.yml': MODEL });
});
afterAll(async () => {
  await world?.stop();
  await source?.stop();
});

const listed = async () => (await world.admin.listRunningQueries({ deploymentId })).items;
const slowOnes = async (query: object = {}) =>
  (await world.admin.listSlowQueries({ deploymentId, ...query })).items;
const asleep = async () =>
  Number(
    (
      await source.administer(
        `select count(*) from pg_stat_activity
         where state = 'active' and query like '%/* sleeps */%' and pid <> pg_backend_pid()`,
      )
    ).rows[0].count,
  );

test('an admin finds the query of a viewer at another server, and ends it there', async () => {
  const other = await world.anotherServer();
  const [embedTenantName, externalId] = [unique('customer'), unique('viewer')];
  const { token } = await world.embedded({ deploymentId, embedTenantName, externalId });
  const there = createOrielClient({ baseUrl: other.url, token, fetch: checkedFetch, retries: 0 });
  const query = { dimensions: ['slow.text'] };
  const asked = there.load({ deploymentId, body: { query } }).catch((error) => error);

  await expect
    .poll(async () => (await listed())[0], { timeout: 30_000 })
    .toMatchObject({ embedTenantName, externalId, state: 'running', kind: 'query', apiKeyId: null });
  const [running] = await listed();
  expect(running!.process).toContain(new URL(other.url).port);
  expect(running!.userName).not.toBeNull();
  expect(JSON.parse(running!.query)).toEqual(query);
  expect(running!.durationMs).toBeGreaterThanOrEqual(1000);
  const ofOthers = await world.admin.listRunningQueries({ embedTenantName: unique('other') });
  expect(ofOthers.items).toEqual([]);
  const of = async (userId: number) =>
    (await world.admin.listRunningQueries({ userId })).items.map(({ id }) => id);
  expect(await of(running!.userId!)).toEqual([running!.id]);
  expect(await of((await world.person()).userId)).toEqual([]);

  const { client: developer } = await world.person({ roles: ['Developer'] });
  await expect(developer.cancelQuery({ id: running!.id })).rejects.toMatchObject({ status: 403 });
  await expect(developer.listRunningQueries({})).rejects.toMatchObject({ status: 403 });
  await expect.poll(asleep).toBe(1);

  await world.admin.cancelQuery({ id: running!.id });
  expect(await asked).toMatchObject({ status: 409, code: 'query_cancelled' });
  // Sooner than the time limit for queries of embed viewers ends it.
  await expect.poll(asleep, { timeout: 25_000 }).toBe(0);
  await expect.poll(listed).toEqual([]);
  const refused = await world.admin.cancelQuery({ id: running!.id }).catch((error) => error);
  const unknown = await world.admin.cancelQuery({ id: 'never-ran-1' }).catch((error) => error);
  expect([refused.status, refused.code, refused.message]).toEqual([
    unknown.status,
    'running_query_not_found',
    unknown.message,
  ]);

  await expect
    .poll(() => slowOnes({ embedTenantName }))
    .toMatchObject([
      { externalId, outcome: 'cancelled', errorCode: 'query_cancelled', rows: null, isCached: false },
    ]);
  const { items: entries } = await world.admin.listAuditLog({ operation: 'cancelQuery', deploymentId });
  expect(entries).toMatchObject([{ resourceType: 'runningQuery', resourceId: running!.id, after: null }]);
});

test('a query of this server is listed at once, and a caller who leaves ends it', async () => {
  const controller = new AbortController();
  const asked = world.admin
    .load({ deploymentId, body: { query: { dimensions: ['slow.id', 'slow.text'] } } }, controller)
    .catch((error) => error);
  await expect.poll(async () => (await listed()).length).toBe(1);
  const [running] = await listed();
  expect(running).toMatchObject({ embedTenantName: null, externalId: null, apiKeyId: expect.any(Number) });
  controller.abort();
  await asked;
  await expect.poll(listed).toEqual([]);
});

test('a slow query that was answered is listed with its rows, newest first, by its filters', async () => {
  const { client, userId } = await world.person({ roles: ['Explorer'] });
  const ask = () => client.load({ deploymentId, body: { query: { dimensions: ['lazy.id', 'lazy.text'] } } });
  await ask();
  await ask();
  const found = await slowOnes({ userId });
  expect(found).toMatchObject([{ outcome: 'answered', rows: 2, isCached: false, errorCode: null, userId }]);
  expect(found[0]!.durationMs).toBeGreaterThanOrEqual(1000);
  expect(await slowOnes({ userId, minMs: 3_600_000 })).toEqual([]);
  expect(await slowOnes({ userId, to: found[0]!.startedAt })).toEqual([]);
  expect(await slowOnes({ userId, from: found[0]!.startedAt })).toHaveLength(1);
  const { client: viewer } = await world.person();
  await expect(viewer.listSlowQueries({})).rejects.toMatchObject({ status: 403 });
});
