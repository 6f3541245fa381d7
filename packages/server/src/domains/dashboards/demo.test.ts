/** The dashboards of the demo: each chart has rows, and viewers see only those of their region. */
import { statSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVERS } from '../../../test/engines.ts';
import { whenBuilt } from '../../../test/shops.ts';
import { createWorld, type EmbeddedSession, type World } from '../../../test/world.ts';
import { ENGINE_SCRIPT } from '../../build-info.ts';
import { filesDirOf } from '../../engines/engine-user.ts';
import { createEngines } from '../../engines/engines.ts';
import { openDatabase } from '../../platform/db/database.ts';
import { createDemoFiles } from '../data-sources/index.ts';
import { DEMO_DASHBOARDS } from './demo.ts';

const deploymentId = 1;
let world: World;
let ann: EmbeddedSession;
beforeAll(async () => {
  world = await createWorld({ ORIEL_DEMO: 'true' });
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

  test('can be published again', async () => {
    const { workbookId, versionNumber } = await world.admin.getDashboard({ publicId });
    const again = await world.admin.publishDashboard({ deploymentId, workbookId, body: {} });
    expect(again.versionNumber).toBe(versionNumber! + 1);
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

test('the data ends today, and the shop grows from year to year', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const back = (days: number) => new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
  const ordersFrom = async (first: string, last: string) => {
    const dateRange = [first, last];
    const [row] = await load({
      measures: ['sales.orders'],
      timeDimensions: [{ dimension: 'sales.ordered_at', dateRange }],
    });
    return Number(row!['sales.orders']);
  };
  const counts = [
    await ordersFrom(back(1095), back(731)),
    await ordersFrom(back(730), back(366)),
    await ordersFrom(back(365), today),
  ];
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(await ordersFrom(back(7), today)).toBeGreaterThan(0);
  expect(await ordersFrom(back(-1), back(-400))).toBe(0);
});

test('a server that runs on moves its data on with the clock, never beyond it, and answers meanwhile', async () => {
  const log = pino({ level: 'silent' });
  const dataDir = await mkdtemp(join(tmpdir(), 'oriel-demo-'));
  await chmod(dataDir, 0o711);
  const engines = createEngines({ script: ENGINE_SCRIPT, dataDir, ...NO_SERVERS, log });
  const db = openDatabase({ connectionString: world.databaseUrl }, log, { poolSize: 1 });
  let now = Date.parse('2026-12-31T23:59:00Z');
  const prepare = createDemoFiles({ engines, log, now: () => now });
  const untilOf = () =>
    statSync(join(filesDirOf(dataDir, deploymentId), 'events.parquet')).mtime.toISOString();
  await prepare(db, deploymentId);
  expect(untilOf()).toBe('2026-12-31T23:00:00.000Z');
  now = Date.parse('2027-01-01T00:00:00Z');
  await prepare(db, deploymentId);
  expect(untilOf()).toBe('2026-12-31T23:00:00.000Z');
  await expect.poll(untilOf, { timeout: 60_000 }).toBe('2027-01-01T00:00:00.000Z');
  await engines.stop();
  await db.end();
  await rm(dataDir, { recursive: true, force: true });
});
