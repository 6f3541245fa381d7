/** If the server cannot start, it says why and what to do in one line, and leaves nothing incomplete behind. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { databaseProcesses, postmasterOf } from './database-processes.ts';
import { startOldPostgres } from './old-postgres.ts';
import {
  ADMIN_KEY,
  cleanUp,
  MAIN,
  newDataDir,
  newFolder,
  openDatabase,
  ready,
  SECRET_KEY,
  type Settings,
  spawnServer,
  startServer,
  stop,
  until,
  usedDataDir,
} from './server-process.ts';
import { inDatabase } from './single-user.ts';

const root = join(import.meta.dirname, '..');
const isRoot = process.getuid?.() === 0;

/** Starts the server, expects it to end with one line on stderr, and returns that line. */
async function refusal(dataDir: string, settings: Settings = {}): Promise<string> {
  const server = spawnServer(dataDir, settings);
  const { code } = await server.ended;
  const lines = server.stderr.split('\n');
  expect(lines, server.stderr).toEqual([expect.stringMatching(/\S/), '']);
  expect(server.stdout).not.toContain('Oriel is running');
  expect(code).toBeGreaterThan(0);
  expect(databaseProcesses(dataDir)).toEqual([]);
  return lines[0]!;
}

/** Runs the command of docs/operating.md that removes what depends on the key, as the user of the database. */
async function forgetSecretKey(dataDir: string) {
  const guide = readFileSync(join(root, 'docs/operating.md'), 'utf8');
  const blocks = [...guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  const command = blocks.find((block) => block.includes('postgres --single'))!;
  const asUser = isRoot ? 'setpriv --reuid=nobody --regid=nogroup --clear-groups ' : '';
  if (isRoot) expect(guide).toContain(`\`${asUser.trim()}\``);
  const script = command.replaceAll('.oriel', dataDir).replace('node_modules/', `${asUser}node_modules/`);
  await promisify(execFile)('/bin/sh', ['-c', script], { cwd: root });
}

/** Starts the server, changes something, and waits until the entry in the audit log is sealed. */
async function sealing(dataDir: string) {
  const server = await startServer(dataDir);
  await server.client(ADMIN_KEY).createUserGroup({ body: { name: randomUUID() } });
  const database = await openDatabase(dataDir);
  const isSealed = async () => (await database.query('select from audit_log_seals')).rowCount;
  await until('the audit log is sealed', isSealed);
  await database.end();
  return server;
}

describe('before anything is created', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await newDataDir();
  });
  afterEach(() => expect(readdirSync(join(dataDir, '..'))).toEqual([]));
  afterAll(cleanUp);

  // config.test.ts has the other wrong values of all settings.
  test.each([
    ['ORIEL_PORT', 'abc', /whole number from 0 to 65535/],
    ['ORIEL_SECRET_KEY', 'short', /32 or more random characters/],
    ['ORIEL_DATABASE_URL', 'mysql://root@127.0.0.1/oriel', /postgres:\/\/user:password@host/],
  ])('%s=%s is refused', async (name, value, mend) => {
    const line = await refusal(dataDir, { [name]: value });
    expect(line).toContain(name);
    expect(line).toMatch(mend);
  });

  test('a port that another program uses', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const line = await refusal(dataDir, { ORIEL_PORT: String(port) });
    other.close();
    expect(line).toContain(String(port));
    expect(line).toContain('ORIEL_PORT');
  });

  test('a database that is too old', async () => {
    const old = await startOldPostgres();
    const line = await refusal(dataDir, {
      ORIEL_DATABASE_URL: `postgres://oriel@127.0.0.1:${old.port}/oriel`,
    });
    old.stop();
    expect(line).toMatch(/PostgreSQL 14.*needs 15.*ORIEL_DATABASE_URL/);
  });
});

describe('a data dir that cannot be used', () => {
  afterEach(cleanUp);

  test('below a regular file', async () => {
    const file = join(await newFolder(), 'file');
    await writeFile(file, '');
    const line = await refusal(join(file, 'data'));
    expect(line).toContain(join(file, 'data'));
    expect(line).toContain('ORIEL_DATA_DIR');
  });

  test.skipIf(isRoot)('that may not be written to', async () => {
    const folder = await newFolder();
    await chmod(folder, 0o500);
    expect(await refusal(join(folder, 'data'))).toContain('ORIEL_DATA_DIR');
    expect(readdirSync(folder)).toEqual([]);
  });

  test.runIf(isRoot)("below root's private folder, where the database's user cannot reach it", async () => {
    const folder = join(await newFolder(), 'private');
    await mkdir(folder, { mode: 0o700 });
    const line = await refusal(join(folder, 'data'));
    expect(line).toMatch(/nobody.*ORIEL_DATA_DIR/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a data dir that was used before', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await usedDataDir();
  });
  afterEach(cleanUp);

  test('by a newer Oriel', async () => {
    inDatabase(
      dataDir,
      "insert into schema_migrations (version, name, checksum) values (9999, 'from-the-future', 'x')",
    );
    expect(await refusal(dataDir)).toMatch(/schema version .*newer Oriel/);
  });

  test('by another PostgreSQL version', async () => {
    await writeFile(join(dataDir, 'postgres/PG_VERSION'), '14\n');
    expect(await refusal(dataDir)).toMatch(/PostgreSQL 14 .*docs\/operating\.md/);
  });

  test('with another secret key, or with another tenant name: the line shows both names', async () => {
    const otherKey = await refusal(dataDir, { ORIEL_SECRET_KEY: SECRET_KEY });
    expect(otherKey).toMatch(
      /^This database was set up with another secret key: .*ORIEL_SECRET_KEY_PREVIOUS/,
    );
    const otherName = await refusal(dataDir, { ORIEL_TENANT: 'acme-corp' });
    expect(otherName).toMatch(/tenant name oriel, .* acme-corp: set ORIEL_TENANT to oriel\.$/);
    // The right key and name still work.
    await expect((await startServer(dataDir)).client(ADMIN_KEY).getMe()).resolves.toBeDefined();
  });

  test('whose secret key is missing gets no new key, and the line names the file, in commands too', async () => {
    const file = join(dataDir, 'secret.key');
    await rm(file);
    const line = await refusal(dataDir);
    expect(line).toContain(`there is no file ${file}: restore that file from the backup`);
    const backup = ['backup', `${dataDir}.backup`, '--with-secret-key'];
    for (const command of [['audit-verify'], ['rotate-secret'], backup]) {
      const run = spawnServer(dataDir, {}, [process.execPath, MAIN, ...command]);
      expect(await run.ended).toMatchObject({ code: 1 });
      expect(run.stderr).toBe(`${line}\n`);
    }
    expect(existsSync(file)).toBe(false);
  });

  test('whose secret key is lost starts again after the command of the guide, and seals its audit log again', async () => {
    await stop(await sealing(dataDir));
    await rm(join(dataDir, 'secret.key'));
    await forgetSecretKey(dataDir);
    const server = await sealing(dataDir);
    await expect(server.client(ADMIN_KEY).getMe()).resolves.toBeDefined();
    const verify = spawnServer(dataDir, {}, [process.execPath, MAIN, 'audit-verify']);
    expect((await verify.ended).code, verify.stderr).toBe(0);
  });

  test('whose secret key is damaged', async () => {
    await writeFile(join(dataDir, 'secret.key'), '');
    expect(await refusal(dataDir)).toMatch(/secret\.key.*ORIEL_SECRET_KEY/);
  });

  test('by a server that is still running and is not disturbed', async () => {
    const running = await startServer(dataDir);
    const database = postmasterOf(dataDir);
    const second = spawnServer(dataDir);
    expect((await second.ended).code).toBeGreaterThan(0);
    expect(second.stderr).toMatch(/^The data dir .* is in use .*ORIEL_DATA_DIR.*\n$/);
    expect(postmasterOf(dataDir)).toBe(database);
    await expect(running.client(ADMIN_KEY).getMe()).resolves.toBeDefined();
    expect(running.hasEnded).toBe(false);
  });

  test('by two servers that start at once: exactly one of them starts', async () => {
    for (let round = 0; round < 2; round++) {
      const one = spawnServer(dataDir);
      await sleep(Math.random() * 200);
      const rivals = [one, spawnServer(dataDir)];
      await until('one of them ended', () => rivals.some(({ hasEnded }) => hasEnded));
      const [loser, winner] = one.hasEnded ? rivals : rivals.toReversed();
      expect(loser!.stderr).toMatch(/^The data dir .* is in use .*ORIEL_DATA_DIR.*\n$/);
      await expect((await ready(winner!)).client(ADMIN_KEY).getMe()).resolves.toBeDefined();
      expect(await stop(winner!)).toEqual({ code: 0, signal: null });
    }
  });
});
