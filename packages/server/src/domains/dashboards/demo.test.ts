/** The dashboards of the demo: each chart has rows, and viewers see only those of their region. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whenBuilt } from '../../../test/shops.ts';
import { createOwnWorld, type Embedded, type World } from '../../../test/world.ts';
import { DEMO_DASHBOARDS } from './demo.ts';

const deploymentId = 1;
let world: World;
let ann: Embedded;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  await whenBuilt(world, deploymentId);
  const userAttributes = [{ name: 'region', value: 'EU' }];
  ann = await world.embedded({
    deploymentId,
    externalId: 'ann',
    embedTenantName: 'acme-corp',
    userAttributes,
  });
});
afterAll(() => world.stop());

type Row = Record<string, string | number | null>;
async function load(query: object): Promise<Row[]> {
  const response = await world.raw('POST', `/query/api/v1/deployments/${deploymentId}/load`, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${ann.token}` },
    body: JSON.stringify({ query }),
  });
  const { data } = (await response.json()) as { data: Row[] };
  return data;
}

describe.each(DEMO_DASHBOARDS)('$title', ({ publicId, charts }) => {
  test('is embedded for everybody, with all of its charts', async () => {
    const dashboard = await ann.client.getDashboard({ publicId });
    expect(dashboard).toMatchObject({ versionNumber: 1, allowEmbed: true, deploymentId });
    expect(dashboard.reportSnapshots).toHaveLength(charts.length);
  });

  test.each(charts.map(({ id, query, spec }) => [id, query, spec] as const))(
    '%s has rows',
    async (_id, query, spec) => {
      const rows = await load(query);
      expect(rows.length).toBeGreaterThan(0);
      const names = new Set(Object.keys(rows[0]!).map((name) => name.replaceAll('.', '__')));
      const fields = [...JSON.stringify(spec).matchAll(/"field":"(\w+)"/g)].map(([, field]) => field);
      expect(fields.filter((field) => !names.has(field!))).toEqual([]);
    },
  );
});

test('a viewer sees only the rows of their region', async () => {
  const query = { measures: ['sales.orders'], dimensions: ['sales.customer_region'] };
  expect((await load(query)).map((row) => row['sales.customer_region'])).toEqual(['EU']);
});

test('the shop grows from year to year', async () => {
  const years = await load({
    measures: ['sales.orders'],
    timeDimensions: [{ dimension: 'sales.ordered_at', granularity: 'year' }],
  });
  const counts = years.map((row) => Number(row['sales.orders']));
  expect(counts).toHaveLength(3);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
});
