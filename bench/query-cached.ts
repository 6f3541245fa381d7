/** `/load` of an answer that is kept, against bare Fastify. */
import { startAnchor } from './harness/anchor.ts';
import type { Anchor, Benchmark, Contender, RunOptions } from './harness/benchmark.ts';
import { measureInTurns } from './harness/rounds.ts';
import { runWrk, wrkVersion } from './harness/wrk.ts';
import { loadAddress, startSales } from './queries/sales.ts';

const CONNECTIONS = 32;
const ROWS = 100_000;
const QUERY = { measures: ['sales.count', 'sales.amount'], dimensions: ['sales.region'] };

export const queryCached: Benchmark = {
  name: 'query-cached',
  description: '/load of an answer that is kept, against bare Fastify that returns the same',
  run,
};

async function run(options: RunOptions) {
  const wrk = await wrkVersion();
  const sales = await startSales(options.rows ?? ROWS);
  const { headers } = sales.oriel;
  const url = loadAddress(sales, QUERY);
  const reply = await fetch(url, { headers });
  const body = await reply.text();
  if (!reply.ok) throw new Error(`/load answered ${reply.status}: ${body.slice(0, 300)}`);
  const load = (name: string, address: string): Contender => ({
    name,
    measure: (seconds) => runWrk({ url: address, headers, connections: CONNECTIONS }, seconds),
  });
  const fastify: Anchor = {
    ...load('bare Fastify', `${(await startAnchor('bare-fastify', { ANCHOR_BODY: body })).url}/`),
    does: 'returns a constant object of the same bytes. It reads no query, makes no plan, knows no viewer, and has no credential, permission, validation, request id, log and metrics.',
  };
  const rounds = await measureInTurns(load('Oriel, /load of a kept answer', url), [fastify], options);
  return {
    measured: rounds.measured,
    comparisons: [rounds.compare(fastify, { asked: { atLeast: 0.3 } })],
    facts: {
      wrk: `${wrk}, 1 thread, ${CONNECTIONS} connections`,
      answer: `${body.length} bytes, 20 rows. The viewer and the plan are kept; the viewer is read again every minute. Every two minutes the data source is asked again.`,
    },
  };
}
