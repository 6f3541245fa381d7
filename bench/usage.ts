/** What the usage counters add to a query and to a minted session: how often each can be counted in the time of one. */
import { createUsage, type Usage } from '../packages/server/src/domains/usage/counters.ts';
import type { Actor } from '../packages/server/src/platform/auth/actor.ts';
import { openAccount } from './embed/account.ts';
import { throughOriel } from './embed/minting.ts';
import type { Anchor, Benchmark, Contender, RunOptions } from './harness/benchmark.ts';
import { measureInTurns } from './harness/rounds.ts';
import { runWrk } from './harness/wrk.ts';
import { loadAddress, startSales } from './queries/sales.ts';

const CONNECTIONS = 32;
const ROWS = 100_000;
const QUERY = { measures: ['sales.count', 'sales.amount'], dimensions: ['sales.region'] };
const VIEWERS = 1000;
/** Calls between two looks at the clock. */
const BATCH = 1000;
/** Counting costs less than 3 % of what is counted. */
const ASKED = { atLeast: 1 / 0.03 };

export const usage: Benchmark = {
  name: 'usage',
  description: 'counting a query and a session for the usage, against the query and the session',
  run,
};

async function run(options: RunOptions) {
  const sales = await startSales(options.rows ?? ROWS);
  const url = loadAddress(sales, QUERY);
  const query: Anchor = {
    name: 'Oriel, /load of a kept answer',
    does: 'is what is counted, counting included.',
    measure: (seconds) => runWrk({ url, headers: sales.oriel.headers, connections: CONNECTIONS }, seconds),
  };
  const queries = await measureInTurns(counting('counting a query', countQuery), [query], options);

  const { oriel, scripts } = await openAccount();
  const minting: Anchor = {
    ...throughOriel('Oriel, generate-session', oriel, scripts),
    does: 'is what is counted, counting included.',
  };
  const sessions = await measureInTurns(counting('counting a session', countSession), [minting], options);
  return {
    measured: [...queries.measured, ...sessions.measured],
    comparisons: [queries.compare(query, { asked: ASKED }), sessions.compare(minting, { asked: ASKED })],
    facts: {
      counting: `in the process of the benchmark, for ${VIEWERS} viewers of 10 embed tenants, without the write: one statement a second with a row for each embed tenant that has news`,
    },
  };
}

const tenantOf = (i: number) => `customer-${i % 10}`;
const actors = Array.from(
  { length: VIEWERS },
  (_, i) => ({ kind: 'externalViewer', userId: i, embed: { embedTenant: tenantOf(i) } }) as unknown as Actor,
);
const countQuery = (counters: Usage, i: number) =>
  counters.countQueries(actors[i % VIEWERS]!, { queries: 1, isCached: true, rows: 20 });
const countSession = (counters: Usage, i: number) => counters.countSession(tenantOf(i), i % VIEWERS);

function counting(name: string, count: (counters: Usage, i: number) => void): Contender {
  const nowhere = { writes: { run: async () => 0 } };
  const counters = createUsage({ db: nowhere, log: console } as unknown as Parameters<typeof createUsage>[0]);
  return {
    name,
    async measure(seconds) {
      const begin = performance.now();
      let calls = 0;
      let elapsed = 0;
      while (elapsed < seconds * 1000) {
        for (const end = calls + BATCH; calls < end; calls++) count(counters, calls);
        elapsed = performance.now() - begin;
      }
      // Include the write that is due.
      await counters.flush();
      return { perSecond: (calls / elapsed) * 1000 };
    },
  };
}
