/** If the admin's key is lost, an operator with access to the database can make a new one. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { databaseProcesses } from './database-processes.ts';
import {
  cleanUp,
  MAIN,
  newDataDir,
  openDatabase,
  type Settings,
  spawnServer,
  startServer,
  stop,
  until,
  usedDataDir,
} from './server-process.ts';

afterAll(cleanUp);

async function adminKey(at: string, args: string[] = [], settings: Settings = {}) {
  const run = spawnServer(at, settings, [process.execPath, MAIN, 'admin-key', ...args]);
  const { code } = await run.ended;
  const apiKey = /^ {2}export ORIEL_ADMIN_API_KEY=(\S+)$/m.exec(run.stdout)?.[1];
  return { code, apiKey, ...run };
}

test('without a database, the command says so and creates nothing', async () => {
  const dataDir = await newDataDir();
  const { code, stderr } = await adminKey(dataDir);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^There is no database in .*start Oriel once.*\n$/);
  expect(readdirSync(dirname(dataDir))).toEqual([]);
});

test('the command works while a server runs, through its address, and while none runs', async () => {
  const dataDir = await usedDataDir();
  const server = await startServer(dataDir);
  const address = `postgres://oriel@${encodeURIComponent(join(dataDir, 'run'))}/oriel`;
  const beside = await adminKey(dataDir);
  const byAddress = await adminKey(await newDataDir(), ['--user', 'admin@example.com'], {
    ORIEL_DATABASE_URL: address,
  });
  for (const { code, apiKey, stderr } of [beside, byAddress]) {
    expect([code, stderr]).toEqual([0, '']);
    await expect(server.client(apiKey).getMe()).resolves.toMatchObject({ isAdmin: true });
  }

  const unknown = await adminKey(dataDir, ['--user', 'eve']);
  expect(unknown).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^There is no active admin .*eve.*\n$/),
  });
  const misspelt = await adminKey(dataDir, ['--usr', 'eve']);
  expect(misspelt).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^Usage: .*--user/) });

  await stop(server);
  const alone = await adminKey(dataDir);
  expect([alone.code, alone.stderr]).toEqual([0, '']);
  expect(databaseProcesses(dataDir)).toEqual([]);
  const next = await startServer(dataDir);
  await expect(next.client(alone.apiKey).getMe()).resolves.toMatchObject({ isAdmin: true });

  const database = await openDatabase(dataDir);
  const { rowCount } = await database.query("select from audit_log where operation = 'adminKey'");
  await database.end();
  expect(rowCount).toBe(3);
});

test.each([
  ['admin-key', 'SIGINT', 130],
  ['rotate-secret', 'SIGTERM', 143],
] as const)('%s that gets a %s stops the database that it started', async (command, signal, code) => {
  const at = await usedDataDir();
  const run = spawnServer(at, {}, [process.execPath, MAIN, command]);
  await until('it has started the database', () => databaseProcesses(at).length > 0);
  expect(await stop(run, signal)).toEqual({ code, signal: null });
  await until('the database has stopped', () => databaseProcesses(at).length === 0);
});
