/** Runs the built server as users do: in a separate process, on an embedded PostgreSQL in a temporary folder. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHttpProcess } from './http-process.ts';
import { root } from './paths.ts';
import { undoAtEnd } from './undo.ts';

export const ADMIN_KEY = 'sk-bench-admin-key-0123456789abcdef';
export const ADMIN_PASSWORD = 'the pass phrase of the benchmarks';

/** In the form that `pg` and libpq's programs take. */
export interface Connection {
  host: string;
  port: number;
  user: string;
  database: string;
}

export interface Oriel {
  url: string;
  pid: number;
  /** The admin's key. */
  headers: Record<string, string>;
  dataDir: string;
  /** For connections to the server's own database. */
  connection: Connection;
}

export async function startOriel(
  options: {
    /** More settings than those that every benchmark needs, such as `{ ORIEL_DEMO: 'false' }`. */
    settings?: Record<string, string>;
    /** For example `--cpu-prof`. */
    nodeArgs?: string[];
    /** A built server to use instead of the one from this tree, to try something out. */
    entry?: string;
  } = {},
): Promise<Oriel> {
  const entry = options.entry ?? buildServer();
  const dataDir = makeDataDir();
  const { url, pid } = await startHttpProcess({
    name: 'Oriel',
    args: [...(options.nodeArgs ?? []), '--enable-source-maps', entry],
    env: (port) => ({
      ORIEL_PORT: String(port),
      ORIEL_DATA_DIR: dataDir,
      ORIEL_ADMIN_API_KEY: ADMIN_KEY,
      ORIEL_ADMIN_PASSWORD: ADMIN_PASSWORD,
      ORIEL_LOG_LEVEL: 'info',
      ...options.settings,
    }),
    readyPath: '/readyz',
  });
  return {
    url,
    pid,
    headers: { authorization: `Api-Key ${ADMIN_KEY}` },
    dataDir,
    connection: { host: join(dataDir, 'run'), port: 5432, user: 'oriel', database: 'oriel' },
  };
}

function buildServer(): string {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The server could not be built:\n${stderr}`);
  return join(root, 'packages', 'server', 'dist', 'main.js');
}

function makeDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'oriel-bench-'));
  undoAtEnd(async () => {
    await stopLeftPostgres(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  });
  // The new folder is private. If we are root, the database runs as another user, who must be able to enter it.
  chmodSync(dataDir, 0o711);
  return dataDir;
}

/** Needed because a server that was killed cannot stop its database. */
async function stopLeftPostgres(dataDir: string) {
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
  const readPid = async () => Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
  const pid = await readPid();
  if (!pid) return;
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    // PostgreSQL removes the file when it has stopped.
    for (let waited = 0; waited < 10_000; waited += 50) {
      if ((await readPid()) !== pid) return;
      await sleep(50);
    }
  }
}
