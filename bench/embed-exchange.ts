/** Exchanging embed sessions for tokens, compared with pgbench. */
import { openAccount } from './embed/account.ts';
import { exchangeByPgbench, exchangeThroughOriel } from './embed/exchanging.ts';
import { CONNECTIONS } from './embed/minting.ts';
import type { Benchmark, RunOptions } from './harness/benchmark.ts';
import { measureInTurns } from './harness/rounds.ts';
import { wrkVersion } from './harness/wrk.ts';

export const embedExchange: Benchmark = {
  name: 'embed-exchange',
  description: 'POST session/token, against pgbench with a plain statement',
  async run(options: RunOptions) {
    const wrk = await wrkVersion();
    const account = await openAccount();
    const anchor = exchangeByPgbench(account);
    const rounds = await measureInTurns(exchangeThroughOriel(account), [anchor], options);
    return {
      measured: rounds.measured,
      comparisons: [rounds.compare(anchor, { asked: { atLeast: 0.5 } })],
      facts: { clients: `${CONNECTIONS} connections, wrk ${wrk} with 1 thread` },
    };
  },
};
