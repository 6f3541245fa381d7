/** What `load` promises to callers who ask at the same moment, ask for much, or ask a slow source. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deployModel } from '../../../test/shops.ts';
import { createSourceDatabase, type SourceDatabase, variablesOf } from '../../../test/source-database.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

const MODEL = `cubes:
  - name: customers
    sql_table: public.customers
    dimensions:
      - { name: name, sql: name, type: string, primary_key: true, public: true }
      - { name: region, sql: region, type: string }
    measures:
      - { name: count, type: count }
    access_policy:
      - group: "role:Admin"
        row_level: { allow_all: true }
      - group: "*"
        row_level: { filters: [{ member: region, operator: equals, values: ["{ securityContext.region }"] }] }
  - name: slow
    sql: "select 1 as id, pg_sleep(1.5)::text as text"
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: text, sql: text, type: string }
`;

let world: World;
let shop: SourceDatabase;
let deploymentId: number;
beforeAll(async () => {
  // The database of this file is on loopback.
  world = await createWorld({ ORIEL_ALLOW_PRIVATE_REMOTES: 'true' });
  shop = await createSourceDatabase(`
    create table customers (name text primary key, region text);
    insert into customers values ('Ada', 'EMEA'), ('Bob', 'AMER')`);
  ({ id: deploymentId } = await world.deployment());
  await world.admin.setEnvVariables({ deploymentId, body: { env_variables: variablesOf(shop.source) } });
  await deployModel(world, deploymentId, { 'model/cubes/shop.yml': MODEL });
});
afterAll(async () => {
  await world?.stop();
  await shop?.stop();
});

interface LoadReply {
  data: Record<string, string>[];
  lastRefreshTime: string;
}

test('two sessions of one viewer that ask at the same moment have the security context of their own', async () => {
  const externalId = unique('viewer');
  const sessionOf = (region: string) =>
    world.embedded({ deploymentId, externalId, embedTenantName: 'one-tenant', securityContext: { region } });
  const [emea, amer] = [await sessionOf('EMEA'), await sessionOf('AMER')];
  const query = { dimensions: ['customers.name', 'customers.region'] };
  const sessions = Array.from({ length: 20 }, (_, i) => (i % 2 ? emea : amer));
  const answers = await Promise.all(
    sessions.map(({ client }) => client.load({ deploymentId, body: { query } }) as Promise<LoadReply>),
  );
  expect(answers.map(({ data }) => data.map((row) => row['customers.name']))).toEqual(
    sessions.map((session) => (session === emea ? ['Ada'] : ['Bob'])),
  );
});

test('an address holds at most 20 queries', async () => {
  const ask = (count: number) => {
    const queries = Array(count).fill({ measures: ['customers.count'] });
    const address = new URLSearchParams({ query: JSON.stringify(queries) });
    return world.raw('GET', `/query/api/v1/deployments/${deploymentId}/load?${address}`);
  };
  const taken = await ask(20);
  expect(taken.status).toBe(200);
  expect(((await taken.json()) as { results: unknown[] }).results).toHaveLength(20);
  const refused = await ask(21);
  expect([refused.status, refused.headers.get('x-error-code')]).toEqual([400, 'invalid_request']);
});

test('a slow answer is as old as the question, not as its end', async () => {
  const query = { dimensions: ['slow.id', 'slow.text'] };
  const first = (await world.admin.load({ deploymentId, body: { query } })) as LoadReply;
  const age = Date.now() - Date.parse(first.lastRefreshTime);
  expect(age).toBeGreaterThanOrEqual(1500);
  const kept = (await world.admin.load({ deploymentId, body: { query } })) as LoadReply;
  expect(kept.lastRefreshTime).toBe(first.lastRefreshTime);
});
