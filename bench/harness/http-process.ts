/** An HTTP server as a child process on a free port of this machine, stopped when the benchmark ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { undoAtEnd } from './undo.ts';

const READY_WITHIN_MS = 90_000;
/** The server forces its own end after 45 seconds. */
const STOP_WITHIN_MS = 60_000;

export interface HttpProcess {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

export async function startHttpProcess(options: {
  name: string;
  /** Arguments for `node`. */
  args: string[];
  env(port: number): Record<string, string>;
  /** Returns 200 once the server is ready. */
  readyPath: string;
}): Promise<HttpProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, options.args, {
    env: { ...inheritedEnv(), ...options.env(port) },
    // As in production, the server writes log lines and another process reads them.
    stdio: ['ignore', 'ignore', 'pipe'],
    // A Ctrl-C in the terminal must reach only this process, which then stops its children in order.
    detached: true,
  });
  const stop = () => stopProcess(child);
  undoAtEnd(stop);

  let errors = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000);
  });
  child.once('error', (error) => {
    errors += String(error);
  });
  // Unlike `exit`, `close` comes after the last output.
  let closed = false;
  child.once('close', () => {
    closed = true;
  });
  const url = `http://127.0.0.1:${port}`;
  for (const deadline = Date.now() + READY_WITHIN_MS; ; await sleep(50)) {
    if (closed) throw new Error(`${options.name} ended while it started:\n${errors.trim()}`);
    if (await answers(url + options.readyPath)) return { url, pid: child.pid!, stop };
    if (Date.now() > deadline) throw new Error(`${options.name} was not ready in time:\n${errors.trim()}`);
  }
}

/** Leaves out settings that are meant for a server that a developer runs by hand on this machine. */
const inheritedEnv = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(ORIEL_|PG|NODE_OPTIONS$)/.test(name)),
  );

const answers = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(5000) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const hasEnded = (child: ChildProcess) =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

async function stopProcess(child: ChildProcess) {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(force);
}
