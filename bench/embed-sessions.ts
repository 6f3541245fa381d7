/** Minting embed sessions, for viewers who are known and for new ones, compared with pgbench. */
import { type Account, openAccount } from './embed/account.ts';
import {
  CONNECTIONS,
  mintByPgbench,
  newByPgbench,
  newThroughOriel,
  pacedByPgbench,
  pacedThroughOriel,
  plainByPgbench,
  plainNewByPgbench,
  throughOriel,
} from './embed/minting.ts';
import { VIEWERS } from './embed/viewers.ts';
import type { Benchmark, RunOptions } from './harness/benchmark.ts';
import { measureInTurns } from './harness/rounds.ts';
import { wrkVersion } from './harness/wrk.ts';

export const embedSessions: Benchmark = {
  name: 'embed-sessions',
  description: 'POST generate-session for known and for new viewers, against pgbench',
  run,
};

async function run(options: RunOptions) {
  const wrk = await wrkVersion();
  const account = await openAccount();
  const minting = await measureMinting(account, options);
  const parts = [
    minting,
    await measurePaced(account, minting.perSecond / 2, options),
    await measureNew(account, options),
  ];
  return {
    measured: parts.flatMap(({ measured }) => measured),
    comparisons: parts.flatMap(({ comparisons }) => comparisons),
    facts: { clients: `${VIEWERS} known viewers, ${CONNECTIONS} connections, wrk ${wrk} with 1 thread` },
  };
}

async function measureMinting({ oriel, scripts }: Account, options: RunOptions) {
  const subject = throughOriel('Oriel, generate-session', oriel, scripts);
  const same = mintByPgbench(oriel, scripts);
  const plain = plainByPgbench(oriel, scripts);
  const rounds = await measureInTurns(subject, [same, plain], options);
  const perSecond = rounds.measured.find(({ name }) => name === subject.name)!.median.perSecond;
  return {
    perSecond,
    measured: rounds.measured,
    comparisons: [rounds.compare(same, { asked: { atLeast: 0.5 } }), rounds.compare(plain)],
  };
}

async function measurePaced({ oriel, viewers, scripts }: Account, perSecond: number, options: RunOptions) {
  const anchor = pacedByPgbench(oriel, scripts, perSecond);
  const subject = pacedThroughOriel(oriel, viewers, perSecond);
  // Each measurement warms its own connections.
  const rounds = await measureInTurns(subject, [anchor], { ...options, runUpSeconds: 0 });
  return {
    measured: rounds.measured,
    comparisons: [rounds.compare(anchor, { metric: 'p99Ms', asked: { atMost: 4 } })],
  };
}

async function measureNew({ oriel, viewers, scripts }: Account, options: RunOptions) {
  const subject = newThroughOriel(oriel, viewers, scripts);
  const same = newByPgbench(oriel, scripts);
  const plain = plainNewByPgbench(oriel, scripts);
  const rounds = await measureInTurns(subject, [same, plain], options);
  return {
    measured: rounds.measured,
    comparisons: [rounds.compare(same, { asked: { atLeast: 0.5 } }), rounds.compare(plain)],
  };
}
