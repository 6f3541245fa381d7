/** The npm package `@cubejs-client/core`, unchanged, asks the demo. */
import { readFileSync } from 'node:fs';
import cube, { type CubeApi, type ResultSet } from '@cubejs-client/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { whenBuilt } from '../../../test/shops.ts';
import { ADMIN_KEY, createWorld, type World } from '../../../test/world.ts';

let world: World;
let api: CubeApi;
beforeAll(async () => {
  world = await createWorld({ ORIEL_DEMO: 'true' });
  await whenBuilt(world, 1);
  api = apiFor(ADMIN_KEY);
});
afterAll(() => world.stop());

const apiFor = (token: string, options: object = {}) =>
  cube(token, { apiUrl: `${world.url}/query/api/v1/deployments/1`, ...options });

/** The data of the demo ends today, and begins three years earlier. */
const LAST_YEAR = new Date().getUTCFullYear() - 1;
const yearFrom = (year: number, last = '12-31'): [string, string] => [`${year}-01-01`, `${year}-${last}`];
const YEAR = { dimension: 'orders.ordered_at', dateRange: yearFrom(LAST_YEAR) };

test('it loads rows, casts numbers and pivots them', async () => {
  const result = await api.load(
    {
      measures: ['orders.count'],
      dimensions: ['orders.status'],
      timeDimensions: [{ ...YEAR, granularity: 'quarter' }],
    },
    { castNumerics: true },
  );
  const rows = result.rawData() as Record<string, unknown>[];
  expect(rows.every((row) => typeof row['orders.count'] === 'number')).toBe(true);
  const table = result.tablePivot({ x: ['orders.ordered_at.quarter'], y: ['orders.status', 'measures'] });
  expect(table.map((row) => row['orders.ordered_at.quarter'])).toEqual(
    ['01', '04', '07', '10'].map((month) => `${LAST_YEAR}-${month}-01T00:00:00.000`),
  );
  const counted = rows.reduce((sum, row) => sum + (row['orders.count'] as number), 0);
  expect(counted).toBeGreaterThan(1000);
  expect(result.seriesNames().map(({ key }) => key)).toContain('completed,orders.count');
});

test('periods without rows are filled in by the dates that the answer names', async () => {
  const first = new Date(Date.now() - 1095 * 86_400_000);
  const month = (offset: number) =>
    new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + offset)).toISOString();
  const dateRange: [string, string] = [month(-2).slice(0, 10), `${month(0).slice(0, 8)}28`];
  const result = await api.load({
    measures: ['orders.count'],
    timeDimensions: [{ dimension: 'orders.ordered_at', granularity: 'month', dateRange }],
  });
  expect(result.chartPivot().map(({ x }) => x.slice(0, 7))).toEqual(
    [-2, -1, 0].map((offset) => month(offset).slice(0, 7)),
  );
});

test('it asks with a long query by POST', async () => {
  const values = Array.from({ length: 400 }, (_, i) => `no such status ${i}`);
  const result = await api.load({
    measures: ['orders.count'],
    filters: [{ member: 'orders.status', operator: 'notEquals', values }],
  });
  expect(Number((result.rawData() as Record<string, string>[])[0]!['orders.count'])).toBeGreaterThan(1000);
});

test('it compares date ranges', async () => {
  const result = (await api.load({
    measures: ['orders.count'],
    timeDimensions: [
      {
        dimension: 'orders.ordered_at',
        granularity: 'month',
        compareDateRange: [yearFrom(LAST_YEAR - 1, '02-28'), yearFrom(LAST_YEAR, '02-28')],
      },
    ],
  })) as ResultSet;
  expect(result.seriesNames()).toHaveLength(2);
  const pivot = result.chartPivot();
  expect(pivot).toHaveLength(2);
  expect(Object.values(pivot[0]!).filter((value) => Number(value) > 0)).toHaveLength(2);
});

test('it puts the answers of several queries side by side', async () => {
  const time = (dimension: string) => ({ dimension, granularity: 'year', dateRange: YEAR.dateRange });
  const result = await api.load([
    { measures: ['orders.count'], timeDimensions: [time('orders.ordered_at')] },
    { measures: ['events.count'], timeDimensions: [time('events.happened_at')] },
  ] as Parameters<CubeApi['load']>[0]);
  const [row, ...others] = (result as ResultSet).tablePivot();
  expect(others).toEqual([]);
  expect(row).toMatchObject({
    'time.year': `${LAST_YEAR}-01-01T00:00:00.000`,
    'orders.count': expect.stringMatching(/^\d+$/),
    'events.count': expect.stringMatching(/^\d+$/),
  });
  expect((result as ResultSet).decompose()).toHaveLength(2);
});

test('it reads rows as arrays, and the total', async () => {
  const query = { dimensions: ['orders.status'], measures: ['orders.count'], limit: 2, total: true };
  const compact = await api.load(query, undefined, undefined, 'compact');
  const plain = await api.load(query);
  expect(compact.rawData()).toEqual(plain.rawData());
  expect(plain.totalRows()).toBeGreaterThan(2);
});

test('rows have a time also under its plain name, in its smallest granularity', async () => {
  const by = (granularity: string) => ({ ...YEAR, granularity });
  const query = { measures: ['orders.count'], timeDimensions: [by('quarter'), by('month'), by('year')] };
  const rowsOf = async (more: object, format?: string) =>
    (
      await api.load({ ...query, ...more } as Parameters<CubeApi['load']>[0], {}, undefined, format)
    ).rawData();
  const rows = (await rowsOf({})) as Record<string, string>[];
  expect(rows).toHaveLength(12);
  expect(rows[1]).toEqual({
    'orders.ordered_at.quarter': `${LAST_YEAR}-01-01T00:00:00.000`,
    'orders.ordered_at.month': `${LAST_YEAR}-02-01T00:00:00.000`,
    'orders.ordered_at.year': `${LAST_YEAR}-01-01T00:00:00.000`,
    'orders.ordered_at': `${LAST_YEAR}-02-01T00:00:00.000`,
    'orders.count': expect.stringMatching(/^\d+$/),
  });
  expect(await rowsOf({}, 'compact')).toEqual(rows);
  // A query may ask for the time itself.
  const [first] = (await rowsOf({ dimensions: ['orders.ordered_at'], limit: 1 })) as typeof rows;
  expect(first!['orders.ordered_at']).not.toMatch(/-01T00:00:00.000$/);
  // The plain name orders by what stands under it, and not by the granularity that is named first.
  const [last] = (await rowsOf({ order: { 'orders.ordered_at': 'desc' }, rowLimit: 1 })) as typeof rows;
  expect(last!['orders.ordered_at']).toBe(`${LAST_YEAR}-12-01T00:00:00.000`);
  const annotation = (await api.load(query as Parameters<CubeApi['load']>[0])).annotation();
  expect(annotation.timeDimensions).toMatchObject({ 'orders.ordered_at': { type: 'time' } });
});

test('the example of SQL in the docs is answered by the demo', async () => {
  const docs = readFileSync(new URL('../../../../../docs/queries.md', import.meta.url), 'utf8');
  const [, sql] = /^## SQL$[\s\S]*?```sql\n([\s\S]*?)```/m.exec(docs)!;
  const { schema, data } = await api.cubeSql(sql!);
  expect(schema.map(({ name }) => name)).toEqual(['status', 'placed', 'revenue']);
  expect(data.length).toBeGreaterThan(1);
});

test('what is wrong with a request is told in full, although the body has no list of issues', async () => {
  const reply = await fetch(`${world.url}/query/api/v1/deployments/1/load`, {
    method: 'POST',
    headers: { authorization: ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ measures: ['orders.count'], dimensions: [] }),
  });
  const { error } = (await reply.json()) as { error: string };
  expect(error).toContain('measures');
  expect(error).toContain('dimensions');
  expect(error).not.toContain('more)');
});

test('it asks for one day, and what cannot be answered is refused in clear words', async () => {
  const time = 'orders.ordered_at';
  const values = [`${LAST_YEAR}-03-15`];
  const countOf = async (query: object) =>
    (await api.load({ measures: ['orders.count'], ...query } as Parameters<CubeApi['load']>[0])).rawData();
  const onTheDay = await countOf({ filters: [{ member: time, operator: 'onTheDate', values }] });
  expect(onTheDay).toEqual(await countOf({ timeDimensions: [{ dimension: time, dateRange: values[0] }] }));
  expect(onTheDay).not.toEqual([{ 'orders.count': '0' }]);

  const byColumn = api.load({ measures: ['orders.count'] }, {}, undefined, 'columnar');
  await expect(byColumn).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('responseFormat: Rows come as `default`'),
  });
  const or = [{ member: 'orders.status', operator: 'set' }];
  const beside = countOf({ filters: [{ member: 'orders.status', or }] });
  await expect(beside).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('A filter with `or` has nothing beside it.'),
  });
});

test('it reads what can be queried', async () => {
  const meta = await api.meta();
  expect(meta.resolveMember('orders.count', 'measures')).toMatchObject({
    title: 'Orders Orders',
    type: 'number',
  });
  expect(meta.defaultTimeDimensionNameFor('orders.count')).toBe('orders.ordered_at');
  expect(meta.membersGroupedByCube().measures.length).toBeGreaterThan(3);
});

test('it shows SQL, and how a query was understood', async () => {
  const query = { measures: ['orders.count'], timeDimensions: [{ ...YEAR, granularity: 'month' }] };
  const sql = await api.sql(query as Parameters<CubeApi['sql']>[0]);
  expect(sql.sql()).toMatch(/select/i);
  const dry = await api.dryRun(query as Parameters<CubeApi['dryRun']>[0]);
  expect(dry).toMatchObject({
    queryType: 'regularQuery',
    normalizedQueries: [{ measures: ['orders.count'], timezone: 'UTC' }],
    pivotQuery: { queryType: 'regularQuery' },
    queryOrder: [{ 'orders.ordered_at.month': 'asc' }],
  });
});

test('it runs SQL', async () => {
  const text = 'select status, measure(count) as orders from orders group by 1 order by 1';
  const { schema, data } = await api.cubeSql(text);
  expect(schema).toEqual([
    { name: 'status', column_type: 'String' },
    { name: 'orders', column_type: 'Number' },
  ]);
  const loaded = await api.load({ measures: ['orders.count'], dimensions: ['orders.status'] });
  const expected = (loaded.rawData() as Record<string, string>[]).map((row) => [
    row['orders.status'],
    row['orders.count'],
  ]);
  expect(data).toEqual(expected.sort());
  await expect(api.cubeSql('select pg_sleep(9) from orders')).rejects.toThrow(
    'The function `pg_sleep` cannot be used.',
  );
});

test('it gets the message of an error', async () => {
  const wrong = api.load({ measures: ['orders.nothing'] });
  await expect(wrong).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('There is no member `orders.nothing` that this query can use.'),
  });
  await expect(apiFor('nobody').load({ measures: ['orders.count'] })).rejects.toMatchObject({ status: 401 });
});

test('it drills down to the rows behind a number', async () => {
  const result = (await api.load({
    measures: ['orders.count'],
    dimensions: ['orders.status'],
    timeDimensions: [{ ...YEAR, granularity: 'quarter' }],
  } as Parameters<CubeApi['load']>[0])) as ResultSet;
  const pivotConfig = { x: ['orders.ordered_at.quarter'], y: ['orders.status', 'measures'] };
  const [first] = result.pivot(pivotConfig);
  const { yValuesArray, xValues } = first as unknown as {
    xValues: string[];
    yValuesArray: [string[], string][];
  };
  const [yValues, counted] = yValuesArray.find(([values]) => values[0] === 'completed')!;
  const query = result.drillDown({ xValues, yValues }, pivotConfig)!;
  expect(query.dimensions).toContain('orders.id');
  const rows = (await api.load(query)) as ResultSet;
  expect(rows.rawData()).toHaveLength(Number(counted));
});

test('it makes series and tables of an answer', async () => {
  const result = (await api.load({
    measures: ['orders.count'],
    dimensions: ['orders.status'],
    timeDimensions: [{ ...YEAR, granularity: 'quarter' }],
  } as Parameters<CubeApi['load']>[0])) as ResultSet;
  const series = result.series();
  expect(series.map(({ series: points }) => points.length)).toEqual(series.map(() => 4));
  expect(result.tableColumns().map(({ key }) => key)).toEqual(
    expect.arrayContaining(['orders.ordered_at.quarter', 'orders.status', 'orders.count']),
  );
});

test('it subscribes by asking again', async () => {
  const polling = apiFor(ADMIN_KEY, { pollInterval: 0.05 });
  const answers: unknown[] = [];
  const subscription = polling.subscribe(
    { measures: ['orders.count'] },
    {},
    (error: Error | null, result: ResultSet) => answers.push(error ?? result.rawData()),
  ) as unknown as { unsubscribe(): Promise<void> };
  await expect.poll(() => answers.length).toBeGreaterThan(1);
  await subscription.unsubscribe();
  expect(answers[0]).toEqual([{ 'orders.count': expect.any(String) }]);
  expect(answers[1]).toEqual(answers[0]);
});

test('the examples of the guide are understood', async () => {
  const guide = readFileSync(new URL('../../../../../docs/queries.md', import.meta.url), 'utf8');
  const examples = [...guide.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => JSON.parse(text!));
  expect(examples.length).toBe(3);
  for (const example of examples) {
    if ('viewer' in example) {
      const reply = await fetch(`${world.url}/query/api/v1/deployments/1/explain`, {
        method: 'POST',
        headers: { authorization: `Api-Key ${ADMIN_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(example),
      });
      expect([reply.status, await reply.json()]).toMatchObject([
        200,
        { plans: [{ reads: expect.any(Array) }] },
      ]);
    } else {
      const rows = ((await api.load(example)) as ResultSet).rawData();
      expect(rows.length).toBe('calculated' in example ? 12 : 24);
    }
  }
});
