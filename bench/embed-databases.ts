/** Minting embed sessions on different databases: embedded and external, with few sessions stored and with many. */
import { type Account, openAccount } from './embed/account.ts';
import { CONNECTIONS, throughOriel } from './embed/minting.ts';
import { storeSessions, VIEWERS } from './embed/viewers.ts';
import type { Benchmark, RunOptions } from './harness/benchmark.ts';
import { startExternalPostgres } from './harness/external-postgres.ts';
import { measureInTurns } from './harness/rounds.ts';
import { wrkVersion } from './harness/wrk.ts';

const MANY = 1_000_000;
const FEW = 1000;

export const embedDatabases: Benchmark = {
  name: 'embed-databases',
  description: 'POST generate-session on an embedded and an external database, and beside many sessions',
  run,
};

async function run(options: RunOptions) {
  const wrk = await wrkVersion();
  const account = await openAccount();
  const external = await startExternalPostgres();
  const parts = [
    await measureEmbedded(account, await openAccount(external), options),
    await measureStored(account, options.rows ?? MANY, options),
  ];
  return {
    measured: parts.flatMap(({ measured }) => measured),
    comparisons: parts.flatMap(({ comparisons }) => comparisons),
    facts: {
      clients: `${VIEWERS} known viewers, ${CONNECTIONS} connections, wrk ${wrk} with 1 thread`,
      external: `PostgreSQL ${external.version}`,
    },
  };
}

async function measureEmbedded(embedded: Account, external: Account, options: RunOptions) {
  const anchor = {
    ...throughOriel('Oriel on an external server', external.oriel, external.scripts),
    does: 'Oriel itself on a PostgreSQL of the system on the same machine, with the same amount of memory. Shows what embedding the database costs, not how fast minting is.',
  };
  const subject = throughOriel('Oriel on the embedded server', embedded.oriel, embedded.scripts);
  const rounds = await measureInTurns(subject, [anchor], options);
  return { measured: rounds.measured, comparisons: [rounds.compare(anchor, { asked: { atLeast: 0.8 } })] };
}

async function measureStored(embedded: Account, many: number, options: RunOptions) {
  const full = await openAccount();
  await storeSessions(full.oriel.connection, full.viewers, many);
  await storeSessions(embedded.oriel.connection, embedded.viewers, FEW);
  const anchor = {
    ...throughOriel(`Oriel, ${FEW} sessions stored`, embedded.oriel, embedded.scripts),
    does: 'Oriel itself with few sessions stored. Shows how minting scales, not how fast it is.',
  };
  const subject = throughOriel(`Oriel, ${many} sessions stored`, full.oriel, full.scripts);
  const rounds = await measureInTurns(subject, [anchor], options);
  return { measured: rounds.measured, comparisons: [rounds.compare(anchor, { asked: { atLeast: 0.8 } })] };
}
