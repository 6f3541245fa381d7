/** Minting embed sessions and exchanging them, held against pgbench that runs the very same statements. */

import { exchangeByPgbench, exchangeThroughOriel } from './embed/exchanging.ts';
import {
  byPgbench,
  CONNECTIONS,
  makeScripts,
  pacedByPgbench,
  pacedThroughOriel,
  type Scripts,
  throughOriel,
} from './embed/minting.ts';
import { makeViewers, storeSessions, VIEWERS, type Viewers } from './embed/viewers.ts';
import type { Benchmark, Comparison, Measured, RunOptions } from './harness/benchmark.ts';
import { startExternalPostgres } from './harness/external-postgres.ts';
import { type Oriel, startOriel } from './harness/oriel.ts';
import { measureInTurns } from './harness/rounds.ts';
import { wrkVersion } from './harness/wrk.ts';

const MANY = 1_000_000;
const FEW = 1000;

export const embedSessions: Benchmark = {
  name: 'embed-sessions',
  description: 'POST generate-session and its exchange, against pgbench with the same statements',
  run,
};

interface Account {
  oriel: Oriel;
  viewers: Viewers;
  scripts: Scripts;
}

interface Part {
  measured: Measured[];
  comparisons: Comparison[];
}

async function run(options: RunOptions) {
  const wrk = await wrkVersion();
  const account = await open(await startOriel());
  const parts: Part[] = [];
  const minting = await measureMinting(account, options);
  parts.push(minting, await measurePaced(account, minting.perSecond / 2, options));
  parts.push(await measureExchange(account, options));

  const external = await startExternalPostgres();
  const other = await open(await startOriel({ settings: { ORIEL_DATABASE_URL: external.url } }), external);
  parts.push(await measureEmbedded(account, other, options));
  parts.push(await measureStored(account, options.rows ?? MANY, options));
  return {
    measured: parts.flatMap(({ measured }) => measured),
    comparisons: parts.flatMap(({ comparisons }) => comparisons),
    facts: {
      load: `${VIEWERS} known viewers, ${CONNECTIONS} connections, wrk ${wrk} with 1 thread`,
      external: `PostgreSQL ${external.version}`,
    },
  };
}

async function open(oriel: Oriel, external?: { connection: Oriel['connection'] }): Promise<Account> {
  const at = external ? { ...oriel, connection: external.connection } : oriel;
  const viewers = await makeViewers(at.connection);
  return { oriel: at, viewers, scripts: await makeScripts(viewers) };
}

async function measureMinting({ oriel, scripts }: Account, options: RunOptions) {
  const subject = throughOriel('Oriel, generate-session', oriel, scripts);
  const anchor = byPgbench(oriel, scripts);
  const rounds = await measureInTurns(subject, [anchor], options);
  const perSecond = rounds.measured.find(({ name }) => name === subject.name)!.median.perSecond;
  return {
    perSecond,
    measured: rounds.measured,
    comparisons: [rounds.compare(anchor, { asked: { atLeast: 0.5 } })],
  };
}

async function measurePaced({ oriel, viewers, scripts }: Account, perSecond: number, options: RunOptions) {
  const anchor = pacedByPgbench(oriel, scripts, perSecond);
  const rounds = await measureInTurns(pacedThroughOriel(oriel, viewers, perSecond), [anchor], options);
  return {
    measured: rounds.measured,
    comparisons: [rounds.compare(anchor, { metric: 'p99Ms', asked: { atMost: 4 } })],
  };
}

async function measureExchange({ oriel, viewers, scripts }: Account, options: RunOptions) {
  const anchor = exchangeByPgbench(oriel, viewers, scripts);
  const rounds = await measureInTurns(exchangeThroughOriel(oriel, viewers, scripts), [anchor], options);
  return { measured: rounds.measured, comparisons: [rounds.compare(anchor, { asked: { atLeast: 0.5 } })] };
}

async function measureEmbedded(embedded: Account, external: Account, options: RunOptions) {
  const anchor = throughOriel('Oriel on an external server', external.oriel, external.scripts);
  const subject = throughOriel('Oriel on the embedded one', embedded.oriel, embedded.scripts);
  const rounds = await measureInTurns(subject, [anchor], options);
  return { measured: rounds.measured, comparisons: [rounds.compare(anchor, { asked: { atLeast: 0.8 } })] };
}

async function measureStored(embedded: Account, many: number, options: RunOptions) {
  const full = await open(await startOriel());
  await storeSessions(full.oriel.connection, full.viewers, many);
  await storeSessions(embedded.oriel.connection, embedded.viewers, FEW);
  const anchor = throughOriel(`Oriel, ${FEW} sessions stored`, embedded.oriel, embedded.scripts);
  const subject = throughOriel(`Oriel, ${many} sessions stored`, full.oriel, full.scripts);
  const rounds = await measureInTurns(subject, [anchor], options);
  return { measured: rounds.measured, comparisons: [rounds.compare(anchor, { asked: { atLeast: 0.8 } })] };
}
