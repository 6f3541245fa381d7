import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sample } from './benchmark.ts';
import type { Connection } from './oriel.ts';
import { summary } from './paced-load.ts';
import { runTool } from './run-tool.ts';
import { requireTool, type Tool } from './tool.ts';

/** Debian's package also creates a database server, which the benchmarks do not use. */
const PGBENCH: Tool = {
  command: 'pgbench',
  debianPackage: 'postgresql-contrib',
  elsewhere: '`brew install libpq` (macOS)',
};

export interface DatabaseLoad {
  connection: Connection;
  /** The file with the SQL of one transaction, in pgbench's language. */
  script: string;
  connections: number;
  /** Values for `:name` in the script. */
  variables?: Record<string, string | number>;
  /** Runs transactions at a given rate instead of as many as possible, and reports percentiles. */
  paced?: {
    perSecond: number;
    /** The load runs this long before the measurement starts, because each run begins with new, cold connections. */
    warmUpSeconds: number;
    /** The file in which pgbench records each transaction. */
    logDir: string;
  };
}

export const requirePgbench = () => requireTool(PGBENCH);

/** Runs the script repeatedly. Each connection prepares each statement once, as the server does on hot paths. */
export async function runPgbench(load: DatabaseLoad, seconds: number): Promise<Sample> {
  const { host, port, user, database } = load.connection;
  const variables = Object.entries(load.variables ?? {}).flatMap(([name, value]) => [
    '-D',
    `${name}=${value}`,
  ]);
  const { paced } = load;
  const output = await runTool(
    requirePgbench(),
    [
      ...['--host', host, '--port', String(port), '--username', user, '--no-vacuum'],
      ...['--protocol', 'prepared', '--file', load.script, ...variables],
      ...['--client', String(load.connections), '--jobs', '1'],
      ...['--time', String(seconds + (paced?.warmUpSeconds ?? 0))],
      ...(paced ? ['--rate', String(paced.perSecond)] : []),
      ...(paced ? ['--log', '--log-prefix', join(paced.logDir, 'pgbench')] : []),
      database,
    ],
    (seconds + 60) * 1000,
  );
  return {
    perSecond: read(output, /^tps = ([\d.]+)/m),
    meanMs: read(output, /^latency average = ([\d.]+) ms/m),
    ...(paced ? summary(await readLatencies(paced)) : {}),
  };
}

/**
 * The third field of a line is the latency in microseconds, from the moment at which the transaction was due; the fifth
 * and sixth are the moment at which it ended.
 */
async function readLatencies({ logDir, warmUpSeconds }: { logDir: string; warmUpSeconds: number }) {
  const logs = (await readdir(logDir)).filter((name) => name.startsWith('pgbench.'));
  const transactions: { endedAt: number; ms: number }[] = [];
  for (const log of logs) {
    const lines = (await readFile(join(logDir, log), 'utf8')).trim().split('\n');
    for (const line of lines) {
      const fields = line.split(' ').map(Number);
      transactions.push({ endedAt: fields[4]! + fields[5]! / 1e6, ms: fields[2]! / 1000 });
    }
    await rm(join(logDir, log));
  }
  const first = transactions.reduce(
    (earliest, { endedAt }) => Math.min(earliest, endedAt),
    Number.POSITIVE_INFINITY,
  );
  return transactions.filter(({ endedAt }) => endedAt >= first + warmUpSeconds).map(({ ms }) => ms);
}

function read(output: string, pattern: RegExp): number {
  const [, value] = pattern.exec(output) ?? [];
  if (!value) throw new Error(`pgbench printed something unexpected:\n${output}`);
  return Number(value);
}
