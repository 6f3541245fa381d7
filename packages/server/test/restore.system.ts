/** Restores that fail or are ended leave nothing, and refuse what a backup cannot hold. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { makeBackup } from '../src/backup.ts';
import { readConfig } from '../src/config.ts';
import { hasTables } from '../src/platform/db/backup/catalogue.ts';
import { MIGRATION_LOCK } from '../src/platform/db/migrate.ts';
import { startServer } from '../src/start-server.ts';
import { backUp, type Changes, restore, rewrite, SECRET_KEY } from './backups.ts';
import { createDatabase, dropDatabase, onServer } from './databases.ts';

const postgresUrl = inject('postgresUrl');
const made: string[] = [];
const clients: pg.Client[] = [];
let folder: string;
/** A backup of a database without content. */
let file: string;

async function database(template?: string) {
  const name = await createDatabase(postgresUrl, template);
  made.push(name);
  const url = onServer(postgresUrl, name);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  clients.push(client);
  return { name, url, client };
}

const newPath = () => join(folder, Math.random().toString(36).slice(2));

async function rewritten(changes: Changes) {
  const path = newPath();
  await rewrite(file, path, changes);
  return path;
}

/** Everything but empty folders. */
const contentOf = async (dataDir: string) =>
  (await readdir(dataDir, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name);

beforeAll(async () => {
  folder = await mkdtemp(join(inject('runFolder'), 'restore-'));
  await chmod(folder, 0o711);
  file = newPath();
  const { url } = await database(inject('templateDatabase'));
  await backUp(url, file);
});
afterAll(async () => {
  for (const client of clients) await client.end();
  for (const name of made) await dropDatabase(postgresUrl, name);
});

test('a restore that is ended leaves nothing', async () => {
  const { url, client } = await database();
  const withKey = await rewritten({ header: () => ({ secretKey: SECRET_KEY }) });
  const dataDir = newPath();
  await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
  const told = new AbortController();
  const restoring = restore(withKey, { url, dataDir, signal: told.signal });
  await expect.poll(() => existsSync(join(dataDir, 'secret.key'))).toBe(true);
  // A half-restored data dir is refused.
  await expect(restore(withKey, { url, dataDir })).rejects.toThrow(/holds half of a restore/);
  told.abort(new Error('told to end'));
  await expect(restoring).rejects.toThrow('told to end');
  expect(await contentOf(dataDir)).toEqual([]);
  await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);

  await restore(withKey, { url, dataDir });
  expect(await contentOf(dataDir)).toEqual(['secret.key']);
});

test('a restore that fails leaves neither a database nor a key nor files', async () => {
  const path = await rewritten({
    header: () => ({ secretKey: SECRET_KEY }),
    files: { '7/a.csv': 'id\n1\n', '8/b.csv': '' },
    totals: { files: 3 },
  });
  const dataDir = newPath();
  await expect(restore(path, { dataDir })).rejects.toThrow(
    'The backup says that it has 3 files, but it has 2: it is damaged.',
  );
  expect(await contentOf(dataDir)).toEqual([]);
  expect(await readdir(dataDir)).not.toContain('postgres');
  expect(await readdir(join(dataDir, 'files'))).toEqual([]);
});

test('half of a restore that was killed is not used', async () => {
  const dataDir = newPath();
  await mkdir(dataDir);
  await writeFile(join(dataDir, 'restore-unfinished'), '');
  const config = readConfig({ ORIEL_PORT: '0', ORIEL_DATA_DIR: dataDir });
  const refusal =
    /^The data dir \S+ holds half of a restore .*: if it was killed, restore into another data dir/;
  await expect(startServer(config, pino({ level: 'silent' }))).rejects.toThrow(refusal);
  await expect(makeBackup(config, [newPath()])).rejects.toThrow(refusal);
  await expect(restore(file, { dataDir, secretKey: SECRET_KEY })).rejects.toThrow(refusal);
  expect(await contentOf(dataDir)).toEqual(['restore-unfinished']);
});

test('only one of two restores into a database succeeds', async () => {
  const { url } = await database();
  const both = await Promise.allSettled(
    [1, 2].map(() => restore(file, { url, dataDir: newPath(), secretKey: SECRET_KEY })),
  );
  const failed = both.filter((result) => result.status === 'rejected');
  expect(failed).toEqual([
    expect.objectContaining({
      reason: expect.objectContaining({ message: expect.stringMatching(/^The database is not empty/) }),
    }),
  ]);
});

test('the whole backup is read before the database is asked', async () => {
  const broken = newPath();
  const whole = await readFile(file);
  await writeFile(broken, whole.subarray(0, whole.length - 100));
  const url = 'postgres://oriel@127.0.0.1:1/none';
  const into = { url, dataDir: newPath(), secretKey: SECRET_KEY };
  await expect(restore(broken, into)).rejects.toThrow(/is damaged or incomplete/);
  await expect(restore(file, into)).rejects.toThrow(/^The database cannot be reached/);
});

const monthOf = (changes: { name?: string; table?: string; bounds?: string }): Changes => ({
  header: ({ partitions }) => ({ partitions: [{ ...partitions[0]!, ...changes }, ...partitions.slice(1)] }),
});
const hostile: [what: string, reason: RegExp, changes: Changes][] = [
  ['a name of a partition', /^A partition of the backup/, monthOf({ name: 'x (like users); --' })],
  ['a table of a partition', /^A partition of the backup/, monthOf({ table: 'users' })],
  [
    'the bounds of a partition',
    /^A partition of the backup/,
    monthOf({ bounds: 'default; drop table users' }),
  ],
  [
    'a table',
    /^The tables of the backup are not those of its version/,
    { header: ({ tables }) => ({ tables: tables.filter(({ name }) => name !== 'user_groups') }) },
  ],
  [
    'a column',
    /^The tables of the backup are not those of its version/,
    {
      header: ({ tables }) => ({
        tables: tables.map(({ name, columns }) => ({ name, columns: columns.slice(1) })),
      }),
    },
  ],
  [
    'a migration',
    /^Migration 1 \(.*use an unmodified release/,
    {
      header: ({ migrations: [first, ...others] }) => ({
        migrations: [{ ...first!, checksum: 'x' }, ...others],
      }),
    },
  ],
  ['a file', /^The backup holds a file with an impossible name/, { files: { '7/../../a.csv': 'x' } }],
];
test.each(hostile)(
  'a backup with %s that its version does not have is refused',
  async (_, reason, changes) => {
    const { url, client } = await database();
    const dataDir = newPath();
    const path = await rewritten(changes);
    await expect(restore(path, { url, dataDir, secretKey: SECRET_KEY })).rejects.toThrow(reason);
    expect(await hasTables(client)).toBe(false);
    if (existsSync(dataDir)) expect(await contentOf(dataDir)).toEqual([]);
  },
);
