/** `/load` of answers that are not kept, on a large table, against the same statements in DuckDB itself. */
import type { Benchmark, RunOptions } from './harness/benchmark.ts';
import { loadAddress, ROWS, runDirectly, type Sales, startSales, statementOf } from './queries/sales.ts';
import { compareLatencies, fetchText, type Ratio } from './reports/latency.ts';

const CALLS = 9;
const LOOP_MAX_MS = 20;

const YEAR = { dimension: 'sales.sold_at', dateRange: ['2024-01-01', '2024-12-31'] };
const QUERIES: Record<string, object> = {
  'sums by region': { measures: ['sales.count', 'sales.amount'], dimensions: ['sales.region'] },
  'sums by region and category, 1,000 rows': {
    measures: ['sales.amount', 'sales.average'],
    dimensions: ['sales.region', 'sales.category'],
    limit: 1000,
  },
  'a year by day': { measures: ['sales.amount'], timeDimensions: [{ ...YEAR, granularity: 'day' }] },
  'distinct customers by month, of one category': {
    measures: ['sales.customers'],
    timeDimensions: [{ ...YEAR, granularity: 'month' }],
    filters: [{ member: 'sales.category', operator: 'equals', values: ['category 7'] }],
  },
};

export const queryUncached: Benchmark = {
  name: 'query-uncached',
  description: '/load of answers that are not kept, on 10,000,000 rows, against DuckDB itself',
  run,
};

async function run(options: RunOptions) {
  const rows = options.rows ?? ROWS;
  const sales = await startSales(rows);
  const ratios: Ratio[] = [];
  for (const [name, query] of Object.entries(QUERIES)) ratios.push(await ratioOf(sales, name, query));
  await loopDelayMs(sales);
  const outcome = await compareLatencies(ratios, { rounds: options.rounds, calls: CALLS });
  const delayMs = await loopDelayMs(sales);
  return {
    ...outcome,
    facts: {
      table: `${rows} rows in a Parquet file`,
      'event loop': `p99 ${delayMs.toFixed(1)} ms in the server from the first query to the last; asked: under ${LOOP_MAX_MS}. Node looks every 10 ms, so that an idle loop has about 10.`,
    },
  };
}

async function ratioOf(sales: Sales, name: string, query: object): Promise<Ratio> {
  const { headers } = sales.oriel;
  const url = loadAddress(sales, { ...query, renewQuery: true });
  const statement = await statementOf(sales, headers, query);
  await requireSameRows(sales, name, url, await runDirectly(sales.duckdb, statement));
  return {
    subject: { name: `/load, ${name}`, act: () => fetchText(url, headers) },
    anchor: { name: `DuckDB, ${name}`, act: () => runDirectly(sales.duckdb, statement) },
    anchorDoes:
      'the same statement with the same values, run by @duckdb/node-api in the process of the benchmark, which is warm, has the same number of threads, and writes the rows as JSON text. It has no request, plan, viewer, limit of time or of rows, and no process between.',
    asked: { atMost: 1.15 },
  };
}

async function requireSameRows({ oriel }: Sales, name: string, url: string, direct: string) {
  const { data } = JSON.parse(await fetchText(url, oriel.headers)) as { data: unknown[] };
  const rows = (JSON.parse(direct) as unknown[]).length;
  if (data.length !== rows || rows === 0 || rows > 1000)
    throw new Error(`${name} has ${data.length} rows in /load and ${rows} in DuckDB.`);
}

/** The delay of the server's loop since the last call. */
async function loopDelayMs({ oriel }: Sales): Promise<number> {
  const text = await (await fetch(`${oriel.url}/metrics`)).text();
  const [, seconds] = /^nodejs_eventloop_lag_p99_seconds(?:\{.*\})? (\S+)$/m.exec(text) ?? [];
  if (!seconds) throw new Error('The server does not say how long its loop is delayed.');
  return Number(seconds) * 1000;
}
