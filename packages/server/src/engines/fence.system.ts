/** What the process of an engine can reach, told by a program that runs in place of the engine. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { installDebianPackages } from '../../../../scripts/debian.ts';
import { engineProcesses, NO_SERVERS } from '../../test/engines.ts';
import type { Probe, ProbeAttempts } from '../../test/probe-engine.ts';
import { BUBBLEWRAP } from '../platform/processes/fence.ts';
import { isRoot, nobody } from '../platform/processes/process-user.ts';
import type { DataSource } from './data-sources.ts';
import { engineUser } from './engine-user.ts';
import { createEngines, type Engines, type EnginesOptions } from './engines.ts';

const server = join(import.meta.dirname, '../..');
const DUCKDB: DataSource = { name: 'default', type: 'duckdb' };
const POSTGRES: DataSource = {
  ...{ name: 'default', type: 'postgres', host: '127.0.0.1', port: 1, database: 'd' },
  ...{ user: 'u', password: 'p', tls: 'off' },
};

let home: string;
let dataDir: string;
let listening: Server;
let tried: ProbeAttempts;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'oriel-probe-'));
  await chmod(home, 0o755);
  dataDir = join(home, 'data');
  for (const id of [1, 2]) await mkdir(join(dataDir, 'files', String(id)), { recursive: true });
  await chmod(dataDir, 0o711);
  await writeFile(join(dataDir, 'files/1/orders.csv'), 'id\n7\n', { mode: 0o640 });
  await writeFile(join(dataDir, 'files/2/other.csv'), 'id\n7\n');
  await writeFile(join(dataDir, 'secret.key'), 'secret', { mode: 0o600 });
  // As earlier versions made them for root, when engines ran as `nobody`. What the link leads to must stay closed.
  if (isRoot()) {
    await symlink(join(dataDir, 'secret.key'), join(dataDir, 'files/1/linked.csv'));
    await chmod(join(dataDir, 'files/1'), 0o750);
    for (const path of ['files/1', 'files/1/orders.csv']) {
      await chown(join(dataDir, path), 0, nobody()!.ids!.gid);
    }
  }
  listening = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as { port: number };
  tried = {
    read: [
      ...['files/1/orders.csv', 'files/2/other.csv', 'secret.key'].map((path) => join(dataDir, path)),
      ...['/etc/passwd', `/proc/${process.pid}/environ`, '/proc/self/environ', '/bin/sh'],
      join(server, 'dist/main.js'),
      // Where its package is in the fence.
      join(home, 'dist/node_modules/@duckdb/node-api/data/secret.key'),
    ],
    written: ['/tmp/oriel-written-by-engine', join(dataDir, 'files/1/new'), '/oriel-new', join(home, 'new')],
    port,
    pid: process.pid,
  };
  await build({
    entryPoints: [join(server, 'test/probe-engine.ts')],
    outfile: join(home, 'dist/engine.js'),
    define: { TRIED: JSON.stringify(tried) },
    external: ['@duckdb/node-api'],
    ...{ bundle: true, platform: 'node', format: 'esm' },
  });
  await writeFile(join(home, 'package.json'), '{ "type": "module" }');
  await mkdir(join(home, 'node_modules'));
  await symlink(join(server, '../../node_modules/@duckdb'), join(home, 'node_modules/@duckdb'));
});
afterAll(async () => {
  listening.close();
  await rm(home, { recursive: true, force: true });
});

const opened: Engines[] = [];
afterEach(async () => {
  for (const engines of opened.splice(0)) await engines.stop();
});

function open(options: Partial<EnginesOptions> = {}) {
  const warnings: { reason?: string }[] = [];
  const engines = createEngines({
    ...{ script: join(home, 'dist/engine.js'), dataDir, ...NO_SERVERS },
    ownDatabase: async () => ({ systemIdentifier: '1', database: 'own' }),
    log: pino({ level: 'warn' }, { write: (line) => void warnings.push(JSON.parse(line)) }),
    ...options,
  });
  opened.push(engines);
  return { engines, warnings };
}

async function probe(source: DataSource, options?: Partial<EnginesOptions>): Promise<Probe> {
  const { isReachable, message } = await open(options).engines.of(1, source).test();
  expect([isReachable, message]).toEqual([true, expect.stringMatching(/^{/)]);
  return JSON.parse(message);
}

const ENV = ['DUCKDB_JE_MALLOC_CONF', 'PWD', 'UV_THREADPOOL_SIZE'];
/** The outcomes if only the first path can be read. */
const onlyFirst = (of: string[]) => of.map((_, i) => (i === 0 ? 'yes' : 'ENOENT'));

/** Checks for bubblewrap without the code under test: a bug there would skip its own tests. */
function findProblem(): string | undefined {
  if (!existsSync(BUBBLEWRAP)) installDebianPackages('bubblewrap');
  if (!existsSync(BUBBLEWRAP)) return 'there is no bubblewrap';
  const args = ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '/bin/true'];
  const { status, stderr } = spawnSync(BUBBLEWRAP, args, { ...engineUser()?.ids, encoding: 'utf8' });
  return status === 0 ? undefined : stderr;
}

const noFence = findProblem();
if (noFence) console.warn(`The fence of engines was not tested: ${noFence}`);
describe.skipIf(noFence !== undefined)('in its fence', () => {
  test('an engine of files reads its own files, and reaches nothing else of the machine', async () => {
    const { read, readByDuckdb, ...found } = await probe(DUCKDB);
    expect(read).toEqual(onlyFirst(tried.read));
    expect(readByDuckdb.map((outcome) => outcome === 'yes')).toEqual(read.map((one) => one === 'yes'));
    expect(found).toEqual({
      // The folder for temporary files is its own.
      written: ['yes', 'EROFS', 'EROFS', expect.anything()],
      writtenByDuckdb: ['yes', 'no', 'no', expect.anything()],
      connected: 'ECONNREFUSED',
      signalled: 'ESRCH',
      root: [
        'dev',
        'lib',
        'lib64',
        'tmp',
        'usr',
        ...(home.startsWith('/tmp/') ? [] : [home.split('/')[1]]),
      ].sort(),
      env: ENV,
      uid: 65534,
    });
    expect(tried.written.filter((path) => existsSync(path) || existsSync(`${path}.csv`))).toEqual([]);
  });

  test('an engine of a database has a network, and reads no file', async () => {
    const found = await probe(POSTGRES);
    expect(found).toMatchObject({ connected: 'yes', signalled: 'ESRCH', env: ENV });
    for (const outcome of [...found.read, ...found.readByDuckdb]) expect(outcome).not.toBe('yes');
    expect(found.written[1]).toBe('ENOENT');
  });

  test('the process of an engine runs as nobody else, and may make no namespaces', async () => {
    const before = new Set(engineProcesses());
    const { engines } = open({ script: join(server, 'dist/engine.js') });
    expect((await engines.of(1, DUCKDB).test()).message).toBe('DuckDB reads 1 file.');
    const [pid] = engineProcesses().filter((one) => !before.has(one));
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1]?.split(/\s+/);
    expect(field('NSpid')).toHaveLength(2);
    expect([field('NoNewPrivs'), field('CapBnd'), field('CapEff')]).toEqual([
      ['1'],
      [NO_RIGHTS],
      [NO_RIGHTS],
    ]);
    if (process.arch === 'x64') expect(field('Seccomp')).toEqual(['2']);
    if (isRoot()) for (const id of field('Uid')!) expect([0, nobody()!.ids!.uid]).not.toContain(Number(id));
  });

  test('if bubblewrap is killed, so is the engine, and the next query has another one', async () => {
    const before = new Set(engineProcesses());
    const { engines } = open({ script: join(server, 'dist/engine.js') });
    const test = () => engines.of(1, DUCKDB).test();
    await test();
    const pids = () => engineProcesses().filter((one) => !before.has(one));
    const [pid] = pids();
    const bubblewrap = parentOf(parentOf(pid!));
    expect(parentOf(bubblewrap)).toBe(process.pid);
    process.kill(bubblewrap, 'SIGKILL');
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    expect((await test()).isReachable).toBe(true);
    expect(pids()).not.toContain(pid);
    await engines.stop();
    await expect.poll(pids).toEqual([]);
  });

  test('nothing of the data dir is seen if the program is installed around it', async () => {
    // The packages are shown as a whole, and here the data dir is in one of them.
    await rm(join(home, 'node_modules/@duckdb'));
    await cp(join(server, '../../node_modules/@duckdb'), join(home, 'node_modules/@duckdb'), {
      recursive: true,
    });
    const inside = join(home, 'node_modules/@duckdb/node-api/data');
    await cp(dataDir, inside, { recursive: true });
    await chmod(inside, 0o755);
    await chmod(join(inside, 'secret.key'), 0o644);
    expect((await probe(DUCKDB, { dataDir: inside })).read).not.toContain('yes');
  });
});

const NO_RIGHTS = '0000000000000000';
const parentOf = (pid: number) => Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))![1]);

describe('without a fence', () => {
  test.each([
    ['/nowhere/bwrap', /^There is no bubblewrap/],
    ['/bin/false', /^bubblewrap cannot make a sandbox: exit code 1/],
  ])('the server says so once, and engines run: %s', async (bubblewrap, reason) => {
    const { engines, warnings } = open({ bubblewrap, script: join(server, 'dist/engine.js') });
    engines.look();
    for (const id of [1, 2]) {
      expect((await engines.of(id, DUCKDB).test()).message).toBe('DuckDB reads 1 file.');
    }
    expect(warnings).toEqual([expect.objectContaining({ reason: expect.stringMatching(reason) })]);
    expect(warnings[0]!.reason).toContain('docs/operating.md');
  });

  test('an engine of root has a user of its own, who reaches neither the server nor its secrets', async () => {
    const found = await probe(DUCKDB, { bubblewrap: '/nowhere/bwrap' });
    expect(found).toMatchObject({ connected: 'yes', env: expect.not.arrayContaining(['HOME', 'PATH']) });
    if (!isRoot()) return;
    const [own, , secret, , environment] = found.read;
    expect([own, secret, environment]).toEqual(['yes', 'EACCES', 'EACCES']);
    expect([found.signalled, ...found.written]).toEqual(['EPERM', 'yes', 'EACCES', 'EACCES', 'EACCES']);
    expect([0, nobody()!.ids!.uid]).not.toContain(found.uid);
    await rm('/tmp/oriel-written-by-engine');
    await rm('/tmp/oriel-written-by-engine.csv');
  });
});
