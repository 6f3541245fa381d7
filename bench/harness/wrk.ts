import type { Sample } from './benchmark.ts';
import { runTool } from './run-tool.ts';
import { requireTool, type Tool } from './tool.ts';

const WRK: Tool = { command: 'wrk', debianPackage: 'wrk', elsewhere: '`brew install wrk` (macOS)' };

export interface Load {
  url: string;
  headers?: Record<string, string>;
  /** A Lua file that makes the requests, for anything but a GET. */
  script?: string;
  connections: number;
  /** The server may refuse requests, as under overload. Only requests that it did not refuse count. */
  mayRefuse?: true;
}

/** Longer than any request waits in the server. */
const TIMEOUT = '15s';

/** Sends requests as fast as they are answered, and fails if any of them does not succeed. */
export async function runWrk(load: Load, seconds: number): Promise<Sample> {
  const { hostname } = new URL(load.url);
  if (hostname !== '127.0.0.1') throw new Error(`Load may go to 127.0.0.1 only, not to ${hostname}.`);
  const headers = Object.entries(load.headers ?? {}).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const output = await runTool(
    requireTool(WRK),
    [
      ...['--threads', '1', '--connections', String(load.connections), '--duration', `${seconds}s`],
      ...['--latency', '--timeout', TIMEOUT, ...headers, ...(load.script ? ['--script', load.script] : [])],
      load.url,
    ],
    (seconds + 20) * 1000,
  );
  const failed = (load.mayRefuse ? /^ *Socket errors.*$/m : /^ *(Socket errors|Non-2xx).*$/m).exec(
    output,
  )?.[0];
  if (failed) throw new Error(`wrk at ${load.url}: ${failed.trim()}`);
  const refused = Number(/^ *Non-2xx.*: (\d+)$/m.exec(output)?.[1] ?? 0);
  const answered = 1 - refused / Number(read(output, /^ +(\d+) requests in /m));
  const percentile = (n: number) => milliseconds(read(output, new RegExp(`^ +${n}% +(\\S+) *$`, 'm')));
  return {
    perSecond: Number(read(output, /^Requests\/sec: +([\d.]+)$/m)) * answered,
    meanMs: milliseconds(read(output, /^ +Latency +(\S+)/m)),
    p50Ms: percentile(50),
    p99Ms: percentile(99),
  };
}

export async function wrkVersion(): Promise<string> {
  // wrk prints its version only in the help text for a wrong call, so its exit code is a failure.
  const usage = await runTool(requireTool(WRK), ['--version'], 5000).catch((error: Error) => error.message);
  return /wrk +(\S*\d\S*) /.exec(usage)?.[1] ?? 'unknown';
}

function read(output: string, pattern: RegExp): string {
  const [, value] = pattern.exec(output) ?? [];
  if (!value) throw new Error(`wrk printed something unexpected:\n${output}`);
  return value;
}

const UNITS_MS: Record<string, number> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

function milliseconds(text: string): number {
  const [, value, unit] = /^([\d.]+)(us|ms|s|m)$/.exec(text) ?? [];
  return Number(value) * (UNITS_MS[unit ?? ''] ?? Number.NaN);
}
