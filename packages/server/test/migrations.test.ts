import pg from 'pg';
import { afterEach, expect, inject, test } from 'vitest';
import { migrate, readMigrations } from '../src/platform/db/migrate.ts';
import { createDatabase, dropDatabase, MIGRATIONS_DIR, onServer } from './databases.ts';
import { dumpSchema } from './schema-dump.ts';

const postgresUrl = inject('postgresUrl');
const migrations = await readMigrations(MIGRATIONS_DIR);
const made: string[] = [];

async function emptyDatabase() {
  const name = await createDatabase(postgresUrl);
  made.push(name);
  return onServer(postgresUrl, name);
}

afterEach(async () => {
  for (const name of made.splice(0)) await dropDatabase(postgresUrl, name);
});

const template = onServer(postgresUrl, inject('templateDatabase'));

test('the migrations make the schema that is checked in', async () => {
  await expect(await dumpSchema(template)).toMatchFileSnapshot('../schema.sql');
});

test.each(migrations.map(({ version }) => version - 1))(
  'from version %i the same schema is reached',
  async (version) => {
    const url = await emptyDatabase();
    await migrate({ connectionString: url }, migrations.slice(0, version));
    await migrate({ connectionString: url }, migrations);
    expect(await dumpSchema(url)).toBe(await dumpSchema(template));
  },
);

test('running them again changes nothing', async () => {
  const url = await emptyDatabase();
  await migrate({ connectionString: url }, migrations);
  const before = await appliedAt(url);
  await migrate({ connectionString: url }, migrations);
  expect(await appliedAt(url)).toEqual(before);
});

test('several servers may migrate at once', async () => {
  const url = await emptyDatabase();
  await Promise.all(Array.from({ length: 5 }, () => migrate({ connectionString: url }, migrations)));
  expect(await appliedAt(url)).toHaveLength(migrations.length);
});

test('a migration that fails leaves nothing behind, and the next start goes on from there', async () => {
  const url = await emptyDatabase();
  const broken = {
    version: migrations.length + 1,
    name: 'broken',
    checksum: 'x',
    text: 'create table half (); select 1/0',
  };
  await expect(migrate({ connectionString: url }, [...migrations, broken])).rejects.toThrow('broken');
  expect(await appliedAt(url)).toHaveLength(migrations.length);
  const mended = { ...broken, text: 'create table half ()' };
  await migrate({ connectionString: url }, [...migrations, mended]);
  expect(await appliedAt(url)).toHaveLength(migrations.length + 1);
});

test('a database of a newer version, and one made by other migrations, are refused', async () => {
  const url = await emptyDatabase();
  await migrate({ connectionString: url }, migrations);
  await expect(migrate({ connectionString: url }, migrations.slice(0, -1))).rejects.toThrow(
    /start a newer Oriel/,
  );
  const edited = migrations.map((migration, i) =>
    i === 1 ? { ...migration, checksum: 'other' } : migration,
  );
  await expect(migrate({ connectionString: url }, edited)).rejects.toThrow(/unmodified release/);
});

async function appliedAt(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select version, applied_at from schema_migrations order by version');
  await client.end();
  return rows;
}
