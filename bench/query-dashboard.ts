/** Twenty viewers with twenty policies on a dashboard of twenty queries, against the same statements in DuckDB. */
import type { Anchor, Benchmark, Contender, RunOptions, Sample } from './harness/benchmark.ts';
import { measureInTurns } from './harness/rounds.ts';
import {
  loadAddress,
  ROWS,
  runDirectly,
  type Statement,
  signInTeams,
  startSales,
  statementOf,
} from './queries/sales.ts';

/** The number of queries that an engine runs at once. */
const AT_ONCE = 4;

export const queryDashboard: Benchmark = {
  name: 'query-dashboard',
  description: 'twenty viewers with twenty policies on a dashboard of 20 queries, against DuckDB itself',
  run,
};

/** Four questions, each for the whole time and for four quarters. */
function dashboard(): object[] {
  const cube = 'governed_sales';
  const questions = [
    { measures: [`${cube}.count`, `${cube}.amount`] },
    { measures: [`${cube}.amount`], dimensions: [`${cube}.region`] },
    { measures: [`${cube}.average`], dimensions: [`${cube}.category`] },
    { measures: [`${cube}.customers`], dimensions: [`${cube}.region`] },
  ];
  const quarters = [
    ['2024-01-01', '2024-03-31'],
    ['2024-04-01', '2024-06-30'],
    ['2024-07-01', '2024-09-30'],
    ['2024-10-01', '2024-12-31'],
  ];
  return questions.flatMap((question) => [
    question,
    ...quarters.map((dateRange) => ({
      ...question,
      timeDimensions: [{ dimension: `${cube}.sold_at`, granularity: 'week', dateRange }],
    })),
  ]);
}

async function run(options: RunOptions) {
  const rows = options.rows ?? ROWS;
  const sales = await startSales(rows);
  const viewers = await signInTeams(sales);
  const queries = dashboard();
  const requests = viewers.flatMap(({ headers }) =>
    queries.map((query) => ({ headers, query, url: loadAddress(sales, { ...query, renewQuery: true }) })),
  );
  const statements: Statement[] = [];
  for (const { headers, query } of requests) statements.push(await statementOf(sales, headers, query));
  // A viewer asks for the first query, then another one does, and so on, as when many open a dashboard.
  const order = mixed(requests.length, viewers.length);
  const oriel: Contender = {
    name: 'Oriel, /load',
    measure: workers(viewers.length, order, (i) => ask(requests[i]!)),
  };
  const duckdb: Anchor = {
    name: 'DuckDB',
    measure: workers(AT_ONCE, order, (i) => runDirectly(sales.duckdb, statements[i]!)),
    does: `the same ${statements.length} statements with the same values, run by @duckdb/node-api in the process of the benchmark, ${AT_ONCE} at once as in the engine, with the rows as JSON text. It has no request, plan, viewer, turns and limits, and no process between.`,
  };
  const rounds = await measureInTurns(oriel, [duckdb], options);
  return {
    measured: rounds.measured,
    comparisons: [rounds.compare(duckdb, { asked: { atLeast: 0.7 } })],
    facts: {
      table: `${rows} rows in a Parquet file`,
      viewers: `${viewers.length}, each with a policy of its own and one request at a time; no answer is kept`,
      distinct: `${new Set(statements.map((statement) => JSON.stringify(statement))).size} different statements of ${statements.length}`,
    },
  };
}

async function ask({ url, headers }: { url: string; headers: Record<string, string> }) {
  const reply = await fetch(url, { headers });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`/load answered ${reply.status}: ${text.slice(0, 300)}`);
}

/** All indexes, so that neighbours belong to different viewers. */
function mixed(count: number, viewers: number): number[] {
  const each = count / viewers;
  return Array.from({ length: count }, (_, i) => (i % viewers) * each + Math.floor(i / viewers));
}

/** Keeps this many calls running until the time is over, and goes on with the list where it stopped. */
function workers(atOnce: number, order: number[], act: (i: number) => Promise<unknown>) {
  let next = 0;
  return async (seconds: number): Promise<Sample> => {
    const started = performance.now();
    const end = started + seconds * 1000;
    let done = 0;
    const work = async () => {
      while (performance.now() < end) {
        await act(order[next++ % order.length]!);
        done++;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return { perSecond: (done * 1000) / (performance.now() - started) };
  };
}
