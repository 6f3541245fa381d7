/**
 * Runs the ClickHouse dialect and engine on ClickHouse itself: as a library (`chdb` of PyPI), with a few lines of HTTP
 * before it. Needs Python 3.9 or later; the library is installed into a folder of its own.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './install.mjs';

/** The library, without its dependencies, which are for data frames. */
const LIBRARY = 'chdb-core==26.9.0';
const TESTS = [
  'packages/semantic/src/plan/golden.test.ts',
  'packages/semantic/src/plan/random.test.ts',
  'packages/semantic/src/plan/policy-barriers.test.ts',
  'packages/server/src/engines/same-rows.test.ts',
  'packages/server/test/clickhouse.check.ts',
];
const venv = join(root, 'node_modules', '.cache', LIBRARY.replace('==', '-'));
const python = join(venv, 'bin', 'python');

const run = (command: string, args: string[], env = {}) =>
  spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }).status;

const isInstalled = () => existsSync(python) && spawnSync(python, ['-c', 'import chdb']).status === 0;

function install() {
  if (isInstalled()) return;
  console.log(`Installing ${LIBRARY} into ${venv}`);
  run('python3', ['-m', 'venv', '--clear', venv]);
  run(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--disable-pip-version-check', LIBRARY]);
}

async function start(folder: string, user: string, password: string) {
  const server = spawn(python, [join(root, 'scripts', 'chdb-server.py'), folder, user, password], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit').then(() => {
    throw new Error('ClickHouse did not start');
  });
  const [port] = await Promise.race([once(server.stdout, 'data'), ended]);
  return { server, port: String(port).trim() };
}

async function stop(server: ChildProcess) {
  const ended = once(server, 'exit');
  server.stdin!.end();
  await ended;
}

install();
if (isInstalled()) {
  const folder = await mkdtemp(join(tmpdir(), 'oriel-clickhouse-'));
  const password = randomBytes(12).toString('hex');
  const { server, port } = await start(folder, 'oriel', password);
  try {
    const args = process.argv.slice(2);
    process.exitCode =
      run('npx', ['vitest', 'run', '--testTimeout=1800000', ...(args.length ? args : TESTS)], {
        ORIEL_TEST_CLICKHOUSE_URL: `http://oriel:${password}@127.0.0.1:${port}`,
      }) ?? 1;
  } finally {
    await stop(server);
    await rm(folder, { recursive: true, force: true });
  }
} else {
  console.error(`${LIBRARY} cannot be installed: it needs Python 3.9 or later, with venv and pip.`);
  process.exitCode = 1;
}
