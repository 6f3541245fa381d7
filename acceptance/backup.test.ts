/** `npm run backup` beside a running server, and `npm run restore` into a new data dir, which a server then uses. */
import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { databaseProcesses } from './database-processes.ts';
import {
  ADMIN_KEY,
  cleanUp,
  deploymentNamed,
  MAIN,
  newDataDir,
  spawnServer,
  startServer,
  stop,
  usedDataDir,
} from './server-process.ts';

afterAll(cleanUp);

const secretOf = async (dataDir: string) => (await readFile(join(dataDir, 'secret.key'), 'utf8')).trim();

/** Runs a command to its end. */
async function finished(dataDir: string, command: string[]) {
  const run = spawnServer(dataDir, {}, [process.execPath, MAIN, ...command]);
  const { code } = await run.ended;
  return { code, stdout: run.stdout, stderr: run.stderr };
}

test('a server on restored data has what was there at the backup, and takes the same keys', {
  timeout: 300_000,
}, async () => {
  const dataDir = await usedDataDir();
  const server = await startServer(dataDir);
  const admin = server.client(ADMIN_KEY);
  const { id } = await admin.createDeployment({ body: deploymentNamed('kept') });
  const files = join(dataDir, 'files', String(id));
  await mkdir(files, { recursive: true });
  await writeFile(join(files, 'orders.csv'), 'id,amount\n1,2\n');
  await writeFile(join(files, 'empty.csv'), '');

  // Others write while the backup is made.
  const file = join(dirname(dataDir), 'oriel.backup');
  let isMade = false;
  const making = finished(dataDir, ['backup', file]).finally(() => {
    isMade = true;
  });
  const names: string[] = [];
  do {
    names.push(`group ${names.length}`);
    await admin.createUserGroup({ body: { name: names.at(-1)! } });
  } while (!isMade);
  const made = await making;
  expect([made.code, made.stderr]).toEqual([0, '']);
  expect(made.stdout).toContain(`The backup is whole: ${file}\n`);
  expect(made.stdout).toMatch(/Files +2 of deployments\n/);
  expect(await finished(dataDir, ['backup', file])).toMatchObject({
    code: 1,
    stderr: `The file ${file} exists already: name another one.\n`,
  });

  const restored = await newDataDir();
  const withoutKey = await finished(restored, ['restore', file]);
  expect([withoutKey.code, withoutKey.stderr]).toEqual([
    1,
    `The secret key is not in the backup: put the secret.key of the old server into ${restored}, or set ORIEL_SECRET_KEY.\n`,
  ]);
  expect(await readdir(dirname(restored))).toEqual([]);
  const inUse = await finished(dataDir, ['restore', file]);
  expect([inUse.code, inUse.stderr]).toEqual([1, expect.stringContaining('is not empty')]);

  await mkdir(restored);
  await chmod(restored, 0o711);
  await copyFile(join(dataDir, 'secret.key'), join(restored, 'secret.key'));
  const done = await finished(restored, ['restore', file]);
  expect([done.code, done.stderr]).toEqual([0, '']);
  expect(databaseProcesses(restored)).toEqual([]);
  expect(await finished(restored, ['audit-verify'])).toMatchObject({ code: 0, stderr: '' });

  const again = await startServer(restored);
  const restoredAdmin = again.client(ADMIN_KEY);
  await expect(restoredAdmin.getDeployment({ deploymentId: id })).resolves.toMatchObject({ name: 'kept' });
  const { items } = await restoredAdmin.listUserGroups({ first: 1000 });
  const kept = items.map(({ name }) => name).filter((name) => name.startsWith('group '));
  expect(new Set(kept)).toEqual(new Set(names.slice(0, kept.length)));
  expect(await readFile(join(restored, 'files', String(id), 'orders.csv'), 'utf8')).toBe('id,amount\n1,2\n');
  expect(await readFile(join(restored, 'files', String(id), 'empty.csv'), 'utf8')).toBe('');
  await stop(again);
  await stop(server);
  expect(gunzipSync(await readFile(file)).includes(await secretOf(dataDir))).toBe(false);

  // With the key in the backup, nothing else is needed. The database is started for the command.
  const withKey = join(dirname(dataDir), 'with-key.backup');
  expect(await finished(restored, ['backup', withKey, '--with-secret-key'])).toMatchObject({ code: 0 });
  const complete = await newDataDir();
  expect(await finished(complete, ['restore', withKey])).toMatchObject({ code: 0, stderr: '' });
  expect(await secretOf(complete)).toBe(await secretOf(dataDir));
  expect(databaseProcesses(complete)).toEqual([]);
});
