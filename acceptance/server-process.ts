/** Runs the built server as a separate process with given settings, reads its output, and always cleans up. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createOrielClient, type OrielClient } from '@oriel/client';
import pg from 'pg';
import { expect, inject } from 'vitest';
import { databaseProcesses, kill, killDatabase } from './database-processes.ts';

export const MAIN = join(import.meta.dirname, '..', 'packages/server/dist/main.js');
export const SECRET_KEY = 'q8ZtV3nLw5RyB7kHc2XmJ9sDf4GpTa6E';
export const ADMIN_KEY = 'sk-acceptance-key-of-the-first-admin';

/** The longest wait for an expected event on a busy machine. It says nothing about speed. */
const PATIENCE_MS = 120_000;

export type Settings = Record<string, string>;

export interface ServerProcess {
  child: ChildProcess;
  pid: number;
  dataDir: string;
  stdout: string;
  stderr: string;
  /** Settles when the process has ended and all its output was read. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  hasEnded: boolean;
  /** Whether a test has sent SIGKILL, after which broken connections are expected. */
  wasKilled: boolean;
}

export interface RunningServer extends ServerProcess {
  url: string;
  /** The entries of the banner by their names, such as `API reference` and `Database`. */
  facts: Record<string, string>;
  /** The API key that a first start prints. */
  apiKey: string | undefined;
  password: string | undefined;
  /** Does not retry, so that tests see every answer. */
  client(apiKey?: string): OrielClient;
}

const servers = new Set<ServerProcess>();
const folders = new Set<string>();

/** A temporary folder that the user of the database can enter even if we are root. */
export async function newFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'oriel-acc-')));
  folders.add(folder);
  await chmod(folder, 0o711);
  return folder;
}

export const newDataDir = async () => join(await newFolder(), 'data');

let used: Promise<string> | undefined;

/** A data dir after a first start with ADMIN_KEY and without a demo, for tests that are not about the first start. */
export async function usedDataDir(): Promise<string> {
  used ??= setUpOnce();
  const dataDir = await newDataDir();
  await promisify(execFile)('cp', ['-a', await used, dataDir]);
  return dataDir;
}

/** Sets the data dir up once for all test processes, under a lock. */
async function setUpOnce(): Promise<string> {
  const folder = join(inject('runFolder'), 'used');
  const complete = join(folder, 'complete');
  const lock = new pg.Client(inject('postgresUrl'));
  await lock.connect();
  try {
    // The lock is released if this process ends.
    await lock.query(`select pg_advisory_lock(hashtext('${folder}'))`);
    if (!existsSync(complete)) await setUp(folder, complete);
  } finally {
    await lock.end();
  }
  return complete;
}

async function setUp(folder: string, complete: string) {
  const dataDir = join(folder, 'data');
  await rm(folder, { recursive: true, force: true });
  const server = await startServer(dataDir, { ORIEL_ADMIN_API_KEY: ADMIN_KEY, ORIEL_DEMO: 'false' });
  // The folder is kept for later tests.
  folders.delete(folder);
  expect(await stop(server)).toEqual({ code: 0, signal: null });
  await rename(dataDir, complete);
}

/** Starts the process and does not wait. It does not inherit settings from the environment of the tests. */
export function spawnServer(
  dataDir: string,
  settings: Settings = {},
  command: [string, ...string[]] = [process.execPath, MAIN],
): ServerProcess {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    cwd: '/',
    env: { PATH: process.env.PATH, ORIEL_PORT: '0', ORIEL_DATA_DIR: dataDir, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    // The server gets its own process group, so that a test can send it a Ctrl-C.
    detached: true,
  });
  const server: ServerProcess = {
    child,
    pid: child.pid!,
    dataDir,
    stdout: '',
    stderr: '',
    hasEnded: false,
    wasKilled: false,
    ended: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        server.hasEnded = true;
        servers.delete(server);
        resolve({ code, signal });
      });
    }),
  };
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    server.stdout += text;
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    server.stderr += text;
  });
  servers.add(server);
  folders.add(dirname(dataDir));
  return server;
}

export const startServer = (dataDir: string, settings?: Settings) => ready(spawnServer(dataDir, settings));

/** Waits for the banner. */
export async function ready(server: ServerProcess): Promise<RunningServer> {
  await until('the server is running', () => {
    if (server.hasEnded) throw new Error(`the start failed: ${server.stderr}${server.stdout}`);
    return server.stdout.includes('Oriel is running at ');
  });
  const url = /^Oriel is running at (\S+)$/m.exec(server.stdout)![1]!;
  const facts = Object.fromEntries(
    [...server.stdout.matchAll(/^ {2}(\S+(?: \S+)?) {2,}(\S.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  const apiKey = /^ {2}export ORIEL_ADMIN_API_KEY=(\S+)$/m.exec(server.stdout)?.[1];
  const password = /^ {2}export ORIEL_ADMIN_PASSWORD=(\S+)$/m.exec(server.stdout)?.[1];
  const client = (key?: string) => createOrielClient({ baseUrl: url, apiKey: key, retries: 0 });
  return Object.assign(server, { url, facts, apiKey, password, client });
}

export async function stop(server: ServerProcess, signal: NodeJS.Signals = 'SIGTERM') {
  server.child.kill(signal);
  return server.ended;
}

/** Ends this process at once, like a power failure. */
export async function killServer(server: ServerProcess) {
  server.wasKilled = true;
  return stop(server, 'SIGKILL');
}

/** Call it after the tests: it ends the processes and removes the folders that they left, even if they failed. */
export async function cleanUp() {
  await Promise.all([...servers].map(killServer));
  for (const folder of folders) {
    await killDatabase(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  folders.clear();
}

process.once('exit', () => {
  kill([...servers].map(({ pid }) => pid));
  for (const folder of folders) {
    kill(databaseProcesses(folder));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

/** A connection to the embedded database, through the same socket that the server uses. */
export async function openDatabase(dataDir: string, database = 'oriel'): Promise<pg.Client> {
  const client = new pg.Client({ host: join(dataDir, 'run'), user: 'oriel', database });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Polls until the check is true, and fails after a time that is much longer than needed. */
export async function until(what: string, check: () => unknown, withinMs = PATIENCE_MS) {
  for (const deadline = Date.now() + withinMs; ; await sleep(10)) {
    if (await check()) return;
    if (Date.now() > deadline) throw new Error(`this did not happen in time: ${what}`);
  }
}

export const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** Returns a port on which no process listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export const deploymentNamed = (name: string) =>
  ({
    name,
    cloudProvider: 'managed',
    creationStep: 'ready',
    isManaged: true,
    region: 'local',
    targetPlatform: 'embedded',
  }) as const;
