/** `npm run backup` beside a running server, and `npm run restore` into a new data dir, which a server then uses. */
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { MIGRATION_LOCK } from '../packages/server/src/platform/db/migrate.ts';
import { createDatabase, dropDatabase, onServer } from '../packages/server/test/databases.ts';
import { databaseProcesses } from './database-processes.ts';
import {
  ADMIN_KEY,
  cleanUp,
  deploymentNamed,
  killServer,
  MAIN,
  newDataDir,
  SECRET_KEY,
  type Settings,
  spawnServer,
  startServer,
  stop,
  until,
  usedDataDir,
} from './server-process.ts';

afterAll(cleanUp);

const secretOf = async (dataDir: string) => (await readFile(join(dataDir, 'secret.key'), 'utf8')).trim();

/** Runs a command to its end. */
async function finished(dataDir: string, command: string[], settings: Settings = {}) {
  const run = spawnServer(dataDir, settings, [process.execPath, MAIN, ...command]);
  const { code } = await run.ended;
  return { code, stdout: run.stdout, stderr: run.stderr };
}

test('a server on restored data has what was there at the backup, and takes the same keys', async () => {
  const dataDir = await usedDataDir();
  const server = await startServer(dataDir);
  const admin = server.client(ADMIN_KEY);
  const { id } = await admin.createDeployment({ body: deploymentNamed('kept') });
  const files = join(dataDir, 'files', String(id));
  await mkdir(files, { recursive: true });
  await writeFile(join(files, 'orders.csv'), 'id,amount\n1,2\n');
  await writeFile(join(files, 'empty.csv'), '');

  const names = ['group 0'];
  await admin.createUserGroup({ body: { name: 'group 0' } });
  // Others write while the backup is made.
  const file = join(dirname(dataDir), 'oriel.backup');
  let isMade = false;
  const making = finished(dataDir, ['backup', file]).finally(() => {
    isMade = true;
  });
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
    `The secret key is not in the backup: put the secret.key of the old server into ${restored}, or set ORIEL_SECRET_KEY. If it is lost, --without-secret-key restores everything but the stored secrets.\n`,
  ]);
  expect(await readdir(dirname(restored))).toEqual([]);
  const inUse = await finished(dataDir, ['restore', file]);
  expect([inUse.code, inUse.stderr]).toEqual([
    1,
    `The data dir ${dataDir} holds a database already: set ORIEL_DATA_DIR to a new folder, or move that one away.\n`,
  ]);

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
  expect(kept).toContain('group 0');
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

test('a backup whose key is lost is restored without the stored secrets, and a server starts on it', async () => {
  const dataDir = await usedDataDir();
  const server = await startServer(dataDir);
  const { id: deploymentId } = await server
    .client(ADMIN_KEY)
    .createDeployment({ body: deploymentNamed('lost') });
  const variables = [
    { name: 'DB_HOST', value: 'db.example.com' },
    { name: 'DB_TYPE', value: 'postgres' },
  ];
  await server.client(ADMIN_KEY).setEnvVariables({ deploymentId, body: { env_variables: variables } });
  const file = join(dirname(dataDir), 'oriel.backup');
  expect(await finished(dataDir, ['backup', file])).toMatchObject({ code: 0, stderr: '' });
  await stop(server);
  const restored = await newDataDir();
  const wrongKey = { ORIEL_SECRET_KEY: SECRET_KEY };
  expect(await finished(restored, ['restore', file], wrongKey)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The backup was made with another secret key: .*--without-secret-key/),
  });
  const notLost = { ORIEL_SECRET_KEY: await secretOf(dataDir) };
  expect(await finished(restored, ['restore', file, '--without-secret-key'], notLost)).toMatchObject({
    code: 1,
    stderr: 'The secret key is not lost: it is given. Leave out --without-secret-key.\n',
  });

  // A backup is possible without the key too, and says what it is worth.
  await rm(join(dataDir, 'secret.key'));
  const keyless = await finished(dataDir, ['backup', join(dirname(dataDir), 'keyless.backup')]);
  expect(keyless).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Warning: There is no secret key .*--without-secret-key/),
  });
  const foreign = await finished(dataDir, ['backup', join(dirname(dataDir), 'foreign.backup')], wrongKey);
  expect(foreign).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Warning: The secret key of these settings is not the one/),
  });

  const done = await finished(restored, ['restore', file, '--without-secret-key']);
  expect([done.code, done.stderr]).toEqual([0, '']);
  expect(done.stdout).toContain(`deployment ${deploymentId}, set them again: DB_HOST, DB_TYPE\n`);
  const again = await startServer(restored);
  const admin = again.client(ADMIN_KEY);
  const { items } = await admin.getEnvVariables({ deploymentId });
  expect(items).toEqual(variables.map(({ name }) => ({ name, value: '[LOST]' })));
  await expect(admin.testDataSource({ deploymentId, name: 'default' })).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('DB_HOST was lost with the secret key: set it again.'),
  });
  await admin.setEnvVariables({ deploymentId, body: { env_variables: [variables[0]!] } });
  expect((await admin.getEnvVariables({ deploymentId })).items[0]).toEqual(variables[0]);
  const { items: entries } = await admin.listAuditLog({ first: 1000 });
  expect(entries.map(({ operation }) => operation)).toContain('restartAuditSeals');
  expect(await finished(restored, ['audit-verify'])).toMatchObject({ code: 0, stderr: '' });
  await stop(again);
});

test('a restore that gets a signal leaves nothing, and half of one that is killed is refused', async () => {
  const source = await usedDataDir();
  const file = join(dirname(source), 'oriel.backup');
  expect(await finished(source, ['backup', file, '--with-secret-key'])).toMatchObject({ code: 0 });
  const postgresUrl = inject('postgresUrl');
  const name = await createDatabase(postgresUrl);
  const url = onServer(postgresUrl, name);
  // A restore waits for this lock when the key is in the data dir.
  const holder = new pg.Client(url);
  await holder.connect();
  await holder.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
  const dataDir = await newDataDir();
  const settings = { ORIEL_DATABASE_URL: url };
  const restoring = async () => {
    const run = spawnServer(dataDir, settings, [process.execPath, MAIN, 'restore', file]);
    await until('the key is restored', () => existsSync(join(dataDir, 'secret.key')));
    return run;
  };
  for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const]) {
    const run = await restoring();
    // npm sends a Ctrl-C a second time.
    run.child.kill(signal);
    expect(await stop(run, signal)).toEqual({ code, signal: null });
    expect(run.stderr).toBe(`The restore was ended by ${signal}, and nothing is left of it.\n`);
    expect(await readdir(dataDir)).toEqual([]);
  }
  await killServer(await restoring());
  expect(await finished(dataDir, [], settings)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The data dir \S+ holds half of a restore .*\n$/),
  });
  await holder.end();
  await dropDatabase(postgresUrl, name);
});

test('commands say how they are called, and refuse what they do not know', async () => {
  const dataDir = await newDataDir();
  const usage = /^Usage: node \S+main\.js backup <file that does not exist yet> /;
  expect(await finished(dataDir, ['backup', 'a.backup', '--with-key'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(new RegExp(`${usage.source}.*\nUnknown option '--with-key'\\.\n$`)),
  });
  expect(await finished(dataDir, ['backup'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/\nOne file must be named\.\n$/),
  });
  // The help can be read even with wrong settings.
  expect(await finished(dataDir, ['backup', '--help'], { ORIEL_PORT: 'wrong' })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(usage),
    stderr: '',
  });
  const { stdout: help } = await finished(dataDir, ['--help']);
  for (const command of ['admin-key', 'rotate-secret', 'audit-verify', 'backup', 'restore']) {
    expect(help).toMatch(new RegExp(`^  node \\S+main\\.js ${command}( |$)`, 'm'));
  }
  expect((await finished(dataDir, ['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const npm = {
    npm_package_name: 'oriel',
    npm_lifecycle_event: 'backup',
    npm_config_with_secret_key: 'true',
  };
  expect(await finished(dataDir, ['backup', 'a.backup'], npm)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^Usage: npm run backup -- <file .*\nnpm has taken --with-secret-key for itself: write -- before it\.\n$/,
    ),
  });
  const npx = { npm_lifecycle_event: 'npx' };
  expect((await finished(dataDir, ['restore'], npx)).stderr).toMatch(/^Usage: npx oriel-server restore </);
  expect(await finished(dataDir, ['backup', join(dataDir, 'none', 'a.backup')])).toMatchObject({
    code: 1,
    stderr: `There is no folder ${join(dataDir, 'none')}: make it first, or name another file.\n`,
  });
  expect(await finished(dataDir, ['restore', join(dataDir, 'a.backup')])).toMatchObject({
    code: 1,
    stderr: `There is no file ${join(dataDir, 'a.backup')}.\n`,
  });
  expect(await finished(dataDir, ['back-up'])).toMatchObject({
    code: 1,
    stderr: 'There is no command back-up. See --help for all of them.\n',
  });
});
