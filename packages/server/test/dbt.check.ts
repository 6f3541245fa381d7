/** Projects that dbt itself built, synced and queried. See `npm run test:dbt`. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { readFiles } from './data-models.ts';
import { createGitHttp, type GitHttp } from './git-http.ts';
import { whenBuilt } from './shops.ts';
import { createOwnWorld, type World } from './world.ts';

const BUILT = process.env.ORIEL_TEST_DBT!;

// biome-ignore lint/suspicious/noExplicitAny: rows and files of any project
type Any = any;

let world: World;
let host: GitHttp;
beforeAll(async () => {
  host = await createGitHttp();
  world = await createOwnWorld({
    env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true', ORIEL_DBT_PYTHON: process.env.ORIEL_TEST_DBT_PYTHON! },
  });
});
afterAll(async () => {
  await world.stop();
  await host.stop();
});

/** Syncs a project, deploys it, and opens the tables that dbt made. */
async function open(project: string) {
  const { id: deploymentId } = await world.deployment();
  const { admin } = world;
  const folder = join(BUILT, project);
  const tables = readdirSync(folder).filter((name) => name.endsWith('.parquet'));
  await world.writeFiles(
    deploymentId,
    Object.fromEntries(tables.map((name) => [name, readFileSync(join(folder, name))])),
  );
  const artifact = (name: string) => new Blob([readFileSync(join(folder, 'target', `${name}.json`))]);
  const body = { manifest: artifact('manifest'), catalog: artifact('catalog') };
  expect(await admin.uploadModelSyncManifest({ deploymentId, body })).toMatchObject({ projectName: project });
  await admin.updateModelSyncSource({
    deploymentId,
    body: { kind: 'manifest', targetSchema: 'files', includeSeeds: true, includeSnapshots: true },
  });
  const { syncJobId, branchName } = await admin.startModelSync({ deploymentId, body: {} });
  await vi.waitFor(
    async () => {
      const { status, error } = await admin.getModelSyncStatus({ deploymentId, syncJobId });
      expect({ status, error }).toEqual({ status: 'COMPLETED', error: null });
    },
    { timeout: 60_000, interval: 200 },
  );
  await admin.mergeToDefaultBranch({ deploymentId, body: { branchName } });
  await whenBuilt(world, deploymentId);
  const database = await (await DuckDBInstance.create()).connect();
  for (const table of tables) {
    const name = table.slice(0, -'.parquet'.length);
    await database.run(`create table "${name}" as from read_parquet('${join(folder, table)}')`);
  }
  return {
    deploymentId,
    cubes: Object.entries(await readFiles(admin, deploymentId, 'main'))
      .filter(([path]) => path.startsWith('model/cubes/dbt/'))
      .flatMap(([, text]) => parse(text).cubes ?? []) as Any[],
    /** The values of each row, as texts, in the order of these members. */
    async load(query: object, members: readonly string[]): Promise<(string | null)[][]> {
      const { data }: Any = await admin.load({ deploymentId, body: { query } as Any });
      return data.map((row: Any) => members.map((name) => (row[name] === null ? null : String(row[name]))));
    },
    async expected(sql: string): Promise<(string | null)[][]> {
      const rows = (await database.runAndReadAll(sql)).getRows();
      return rows.map((row) => row.map((value) => (value === null ? null : String(value))));
    },
  };
}

/** Numbers with as many digits as a double surely has, and rows in the order of their texts. */
const comparable = (rows: readonly (readonly (string | null)[])[]) =>
  rows
    .map((row) =>
      row.map((value) =>
        value !== null && value !== '' && Number.isFinite(Number(value))
          ? Number(value).toPrecision(10)
          : value,
      ),
    )
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

describe.each(['shop', 'accounts', 'events'])('%s', (project) => {
  test('every cube counts the rows of its table, by each of its dimensions', async () => {
    const { cubes, load, expected } = await open(project);
    expect(cubes.length).toBeGreaterThan(3);
    let compared = 0;
    for (const { name, sql_table: table, dimensions = [] } of cubes) {
      const from = table.replace(/^files\./, '');
      expect(await load({ measures: [`${name}.count`] }, [`${name}.count`])).toEqual(
        await expected(`select count(*) from ${from}`),
      );
      for (const dimension of dimensions) {
        if (dimension.type === 'time' || dimension.primary_key) continue;
        const sql = dimension.sql.replaceAll('{CUBE}.', '');
        const members = [`${name}.${dimension.name}`, `${name}.count`];
        const rows = await load({ dimensions: [members[0]], measures: [members[1]] }, members);
        const own = await expected(`select ${sql}, count(*) from ${from} group by 1`);
        expect([name, dimension.name, comparable(rows)]).toEqual([name, dimension.name, comparable(own)]);
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(5);
  });
});

test('metrics are what the same formulas say about the tables of dbt', async () => {
  const { load, expected } = await open('shop');
  const from = 'orders o left join customers c on c.customer_id = o.customer_id';
  for (const [metric, formula] of Object.entries({
    revenue: "sum(net) filter (status <> 'returned')",
    northern_revenue: "sum(net) filter (region = 'north')",
    orders_total: 'count(order_id)',
    buyers_total: 'count(distinct o.customer_id)',
    returned_orders: 'sum(case when is_returned then 1 else 0 end)',
    return_rate: 'sum(case when is_returned then 1 else 0 end) / count(order_id)',
    large_share: 'count(order_id) filter (gross >= 50) / count(order_id)',
    revenue_per_buyer: "sum(net) filter (status <> 'returned') / count(distinct o.customer_id)",
    largest: 'max(gross)',
  })) {
    const members = ['customers.region', `orders.${metric}`];
    const rows = await load({ dimensions: [members[0]], measures: [members[1]] }, members);
    const own = await expected(`select region, ${formula} from ${from} group by 1`);
    expect([metric, comparable(rows)]).toEqual([metric, comparable(own)]);
  }
  const days = {
    dimension: 'orders.ordered_at',
    granularity: 'day',
    dateRange: ['2025-01-01', '2025-03-31'],
  };
  for (const [metric, since] of [
    ['running_revenue', "date '1900-01-01'"],
    ['weekly_revenue', 'date_day - interval 6 day'],
  ]) {
    const rows = await load({ measures: [`orders.${metric}`], timeDimensions: [days] }, [`orders.${metric}`]);
    const own = await expected(`
      select (select sum(net) from orders where ordered_at::date between ${since} and date_day) as amount
      from metricflow_time_spine where date_day <= date '2025-03-31' order by date_day`);
    const values = (all: (string | null)[][]) => all.map(([amount]) => Number(amount ?? 0).toFixed(6));
    const shown = values(rows).filter((value) => Number(value) !== 0);
    expect([metric, shown]).toEqual([metric, values(own).filter((value) => Number(value) !== 0)]);
  }
  const members = ['customers.region', 'order_items.units_sold'];
  const units = await load({ dimensions: [members[0]], measures: [members[1]] }, members);
  const own = `select region, sum(quantity) from order_items join orders o using (order_id) left join customers c on c.customer_id = o.customer_id group by 1`;
  expect(comparable(units)).toEqual(comparable(await expected(own)));
});

test('dbt parses a project of a repository without a manifest in a sandbox, and what it says of an error is shown', async () => {
  const { id: deploymentId } = await world.deployment();
  const { admin } = world;
  const url = await host.createRepository('shop');
  const push = async (message: string) => {
    await host.git.run(['-C', 'clone', 'add', '--all']);
    await host.git.run(['-C', 'clone', 'commit', '--quiet', '-m', message]);
    await host.git.run(['-C', 'clone', 'push', '--quiet', 'origin', 'HEAD:main']);
  };
  await host.git.run(['clone', '--quiet', 'served/shop.git', 'clone']);
  const clone = join(host.git.dir, 'clone');
  cpSync(join(import.meta.dirname, 'dbt', 'shop'), join(clone, 'warehouse'), { recursive: true });
  await push('the project');
  const { user: username, token } = host.credentials;
  const repository = { url, username, token, projectPath: '/warehouse' };
  await admin.updateModelSyncSource({
    deploymentId,
    body: { kind: 'repository', repository, targetSchema: 'files', select: ['tag:mart'] },
  });
  const sync = async (branchName: string) => {
    const { syncJobId } = await admin.startModelSync({ deploymentId, body: { branchName } });
    return vi.waitFor(
      async () => {
        const status = await admin.getModelSyncStatus({ deploymentId, syncJobId });
        expect(status.status).not.toBe('RUNNING');
        return status;
      },
      { timeout: 240_000, interval: 500 },
    );
  };
  expect(await sync('parsed')).toMatchObject({ status: 'COMPLETED' });
  const files = await readFiles(admin, deploymentId, 'parsed');
  expect(files['model/cubes/dbt/orders.yml']).toContain('files');
  expect(files['model/cubes/dbt/orders.yml']).toContain('name: revenue');

  // The project can run code here, which reaches neither the network nor files of the server.
  writeFileSync(
    join(clone, 'warehouse/models/broken.sql'),
    "{{ ref('nothing_of_that_name') }}{{ modules.os }}",
  );
  await push('broken');
  const broken = await sync('broken');
  expect(broken).toMatchObject({ status: 'FAILED', error: expect.stringContaining('nothing_of_that_name') });
}, 600_000);
