import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sample } from './benchmark.ts';
import type { Connection } from './oriel.ts';
import { summary } from './paced.ts';
import { runTool } from './run-tool.ts';
import { requireTool, type Tool } from './tool.ts';

/** Debian's package also makes a database server of its own, which nobody here uses. */
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
  /** Offers this many transactions a second instead of as many as possible. */
  perSecond?: number;
  /** Where each transaction is noted, which percentiles are made from. */
  logDir?: string;
}

export const requirePgbench = () => requireTool(PGBENCH);

/** Runs the script over and over. Statements are prepared once a connection, as the server does on hot paths. */
export async function runPgbench(load: DatabaseLoad, seconds: number): Promise<Sample> {
  const { host, port, user, database } = load.connection;
  const variables = Object.entries(load.variables ?? {}).flatMap(([name, value]) => [
    '-D',
    `${name}=${value}`,
  ]);
  const output = await runTool(
    requirePgbench(),
    [
      ...['--host', host, '--port', String(port), '--username', user, '--no-vacuum'],
      ...['--protocol', 'prepared', '--file', load.script, ...variables],
      ...['--client', String(load.connections), '--jobs', '1', '--time', String(seconds)],
      ...(load.perSecond ? ['--rate', String(load.perSecond)] : []),
      ...(load.logDir ? ['--log', '--log-prefix', join(load.logDir, 'pgbench')] : []),
      database,
    ],
    (seconds + 60) * 1000,
  );
  return {
    perSecond: read(output, /^tps = ([\d.]+)/m),
    meanMs: read(output, /^latency average = ([\d.]+) ms/m),
    ...(load.logDir ? summary(await readLatencies(load.logDir)) : {}),
  };
}

/** The third field of each line: microseconds, from the moment at which the transaction was due. */
async function readLatencies(dir: string): Promise<number[]> {
  const logs = (await readdir(dir)).filter((name) => name.startsWith('pgbench.'));
  const latencies: number[] = [];
  for (const log of logs) {
    const lines = (await readFile(join(dir, log), 'utf8')).trim().split('\n');
    for (const line of lines) latencies.push(Number(line.split(' ')[2]) / 1000);
    await rm(join(dir, log));
  }
  return latencies;
}

function read(output: string, pattern: RegExp): number {
  const [, value] = pattern.exec(output) ?? [];
  if (!value) throw new Error(`pgbench printed something unexpected:\n${output}`);
  return Number(value);
}
