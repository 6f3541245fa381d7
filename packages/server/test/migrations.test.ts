import pg from 'pg';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { parseFunctions } from '../src/platform/db/functions.ts';
import { migrate, type Schema } from '../src/platform/db/migrate.ts';
import { parseMigration, requireNumbers } from '../src/platform/db/migrations.ts';
import { StartupError } from '../src/platform/startup-error.ts';
import { administer, createDatabase, dropDatabase, onServer, readOwnSchema } from './databases.ts';
import { dumpSchema } from './schema-dump.ts';

const postgresUrl = inject('postgresUrl');
const template = onServer(postgresUrl, inject('templateDatabase'));
const schema = await readOwnSchema();
const { migrations, functions } = schema;
const next = migrations.at(-1)!.version + 1;

const made: string[] = [];
const clients: pg.Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.end();
  for (const name of made.splice(0)) await dropDatabase(postgresUrl, name);
});

async function database(from?: string) {
  const name = await createDatabase(postgresUrl, from);
  made.push(name);
  return onServer(postgresUrl, name);
}
const emptyDatabase = () => database();
/** Applies everything that this build has. */
const fullDatabase = () => database(inject('templateDatabase'));

async function connect(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  clients.push(client);
  return client;
}

async function rows(url: string, text: string) {
  return (await (await connect(url)).query({ text, rowMode: 'array' })).rows;
}

const run = (url: string, changes: Partial<Schema> = {}) =>
  migrate({ connectionString: url }, { ...schema, ...changes });
const withMigration = (text: string) => ({
  migrations: [...migrations, parseMigration(next, 'new', text)],
});
const withFunctions = (text: string) => ({ functions: [...functions, ...parseFunctions(text, 'test')] });

const appliedAt = (url: string) =>
  rows(url, 'select version, applied_at from schema_migrations order by version');

test('the migrations make the schema that is checked in', async () => {
  await expect(await dumpSchema(template)).toMatchFileSnapshot('../schema.sql');
});

test('running them again changes nothing', async () => {
  const url = await emptyDatabase();
  await run(url);
  const before = [await appliedAt(url), await rows(url, 'select * from schema_functions order by name')];
  await run(url);
  expect([await appliedAt(url), await rows(url, 'select * from schema_functions order by name')]).toEqual(
    before,
  );
});

test('several servers may migrate at once', async () => {
  const url = await emptyDatabase();
  await Promise.all(Array.from({ length: 5 }, () => run(url)));
  expect(await appliedAt(url)).toHaveLength(migrations.length);
});

test('a migration that fails leaves nothing behind, and the next start continues from there', async () => {
  const url = await fullDatabase();
  await expect(run(url, withMigration('create table half (); select 1/0'))).rejects.toThrow(
    `migration ${next} (new) failed: division by zero`,
  );
  expect(await appliedAt(url)).toHaveLength(migrations.length);
  await run(url, withMigration('create table half ()'));
  expect(await appliedAt(url)).toHaveLength(migrations.length + 1);
});

test('a database of a newer version or with other migrations is refused', async () => {
  const url = await fullDatabase();
  await expect(run(url, { migrations: migrations.slice(0, -1) })).rejects.toThrow(/start a newer Oriel/);
  const edited = migrations.map((migration, i) =>
    i === 1 ? { ...migration, checksum: 'other' } : migration,
  );
  await expect(run(url, { migrations: edited })).rejects.toThrow(/unmodified release/);
});

test('a database with another encoding is refused before anything is created in it', async () => {
  const name = `${inject('templateDatabase')}_latin1`;
  await administer(postgresUrl, `create database ${name} encoding 'LATIN1' locale 'C' template template0`);
  made.push(name);
  const url = onServer(postgresUrl, name);
  await expect(run(url)).rejects.toThrow(/encoding of the database is LATIN1, and Oriel needs UTF8/);
  expect(await rows(url, `select from pg_tables where schemaname = 'public'`)).toEqual([]);
});

test.each([
  [
    ['0001-one.sql', '0002-newer.sql', '0002-two.sql', '0003-three.sql'],
    'The migrations 0002-newer.sql and 0002-two.sql have the same number: give the newer one the number 4.',
  ],
  [
    ['0001-one.sql', '0003-three.sql'],
    'There is no migration with the number 2: rename 0003-three.sql to 0002-three.sql, or restore the missing file.',
  ],
  [['0001-one.sql', 'two.sql'], 'The migration two.sql has no number: give it a name like 0002-name.sql.'],
])('wrong numbers of migrations stop a start with a line that names the files: %j', (files, line) => {
  expect(() => requireNumbers(files)).toThrow(new StartupError(line));
});

test('others can read a table while a migration waits for it', async () => {
  const url = await fullDatabase();
  const [holder, reader] = [await connect(url), await connect(url)];
  await holder.query('begin; select from jobs');
  const migrating = run(url, withMigration('alter table jobs add column other text'));
  await expect
    .poll(
      () => rows(url, "select from pg_stat_activity where wait_event_type = 'Lock' and query like 'alter%'"),
      { interval: 20 },
    )
    .toHaveLength(1);
  // The reader waits behind the migration until the migration stops waiting for a moment.
  await reader.query('select from jobs');
  await holder.query('commit');
  await migrating;
  expect(await reader.query('select other from jobs')).toMatchObject({ rowCount: 0 });
});

describe('outside of a transaction', () => {
  const INDEX = '-- outside a transaction\ncreate index concurrently jobs_by_error on jobs (last_error);\n';
  const isValid = (url: string) =>
    rows(url, "select indisvalid from pg_index where indexrelid = to_regclass('jobs_by_error')");

  test('an index is built while others write', async () => {
    const url = await fullDatabase();
    const writer = await connect(url);
    await writer.query("begin; insert into jobs (kind, max_attempts) values ('test', 1)");
    const migrating = run(url, withMigration(INDEX));
    // The writer and the index build that waits for it both hold locks on the table, but neither blocks others.
    await expect
      .poll(() =>
        rows(url, "select from pg_stat_progress_create_index where command = 'CREATE INDEX CONCURRENTLY'"),
      )
      .toHaveLength(1);
    await (await connect(url)).query("insert into jobs (kind, max_attempts) values ('test', 1)");
    await writer.query('commit');
    await migrating;
    expect(await isValid(url)).toEqual([[true]]);
  });

  test('several servers may start at once', async () => {
    const url = await fullDatabase();
    await Promise.all(Array.from({ length: 3 }, () => run(url, withMigration(INDEX))));
    expect(await isValid(url)).toEqual([[true]]);
  });

  test('an index that was interrupted is built again by the next start', async () => {
    const url = await fullDatabase();
    const writer = await connect(url);
    await writer.query("begin; insert into jobs (kind, max_attempts) values ('test', 1)");
    const migrating = run(url, withMigration(INDEX)).catch((error) => error);
    await expect.poll(() => isValid(url)).toEqual([[false]]);
    await writer.query(`select pg_terminate_backend(pid) from pg_stat_activity where query like '%jobs_by_error on%'
                        and pid <> pg_backend_pid() and datname = current_database()`);
    expect(await migrating).toBeInstanceOf(Error);
    await writer.query('commit');
    expect(await isValid(url)).toEqual([[false]]);
    await run(url, withMigration(INDEX));
    expect(await isValid(url)).toEqual([[true]]);
    expect(await appliedAt(url)).toHaveLength(migrations.length + 1);
  });

  test('an index that was built but not recorded is kept', async () => {
    const url = await fullDatabase();
    await run(url, withMigration(INDEX));
    const before = await rows(url, "select 'jobs_by_error'::regclass::oid");
    await rows(url, `delete from schema_migrations where version = ${next}`);
    await run(url, withMigration(INDEX));
    expect(await rows(url, "select 'jobs_by_error'::regclass::oid")).toEqual(before);
    expect(await appliedAt(url)).toHaveLength(migrations.length + 1);
  });

  test('dropping an index succeeds, even a second time', async () => {
    const url = await fullDatabase();
    await rows(url, 'create index jobs_by_error on jobs (last_error)');
    const drop = '-- outside a transaction\ndrop index concurrently if exists jobs_by_error;\n';
    await run(url, withMigration(drop));
    await rows(url, `delete from schema_migrations where version = ${next}`);
    await run(url, withMigration(drop));
    expect(await isValid(url)).toEqual([]);
  });

  test.each([
    'create table other ();',
    `${INDEX}create table other ();`,
    'create index jobs_by_error on jobs (id);',
  ])('nothing else can run: %s', (text) => {
    expect(() => parseMigration(next, 'new', `-- outside a transaction\n${text}`)).toThrow('can only be one');
  });
});

describe('functions', () => {
  const answer = (value: number) =>
    `create or replace function answer() returns int language sql as $$ select ${value} $$;`;
  const NOISY = `
    create or replace function noisy() returns trigger language plpgsql as $$ begin return null; end $$;
    -- A comment.
    create or replace trigger noisy_jobs after insert or update of kind on jobs
      for each row execute function noisy();`.replace(/^ {4}/gm, '');

  test('are replaced when their text changes', async () => {
    const url = await fullDatabase();
    await run(url, withFunctions(answer(1)));
    expect(await rows(url, 'select answer()')).toEqual([[1]]);
    await run(url, withFunctions(answer(2)));
    expect(await rows(url, 'select answer()')).toEqual([[2]]);
  });

  test.each([
    ['another type', 'create or replace function answer() returns text language sql as $$ select 2 $$;'],
    [
      'other parameters',
      'create or replace function answer(n int default 2) returns int language sql as $$ select n $$;',
    ],
  ])('may get %s, and the old function is dropped', async (_, text) => {
    const url = await fullDatabase();
    await run(url, withFunctions(answer(1)));
    await run(url, withFunctions(text));
    expect(await rows(url, "select from pg_proc where proname = 'answer'")).toHaveLength(1);
    expect((await rows(url, 'select answer()::int'))[0]).toEqual([2]);
  });

  test('and their triggers are dropped when they are no longer in the files', async () => {
    const url = await fullDatabase();
    await run(url, withFunctions(NOISY));
    expect(await rows(url, "select from pg_trigger where tgname = 'noisy_jobs'")).toHaveLength(1);
    await run(url);
    expect(await dumpSchema(url)).toBe(await dumpSchema(template));
  });

  test('may call functions that come later in the files', async () => {
    const url = await fullDatabase();
    const caller = 'create or replace function a_caller() returns int language sql as $$ select answer() $$;';
    await run(url, withFunctions(`${caller}\n${answer(1)}`));
    expect(await rows(url, 'select a_caller()')).toEqual([[1]]);
  });

  test('with a mistake in them stop the start, and leave nothing behind', async () => {
    const url = await fullDatabase();
    const broken = 'create or replace function broken() returns int language sql as $$ select nothing() $$;';
    await expect(run(url, withFunctions(`${answer(1)}\n${broken}`))).rejects.toThrow(
      /nothing\(\) does not exist/,
    );
    expect(await dumpSchema(url)).toBe(await dumpSchema(template));
  });

  test('of a newer version are not changed by an older server that starts later', async () => {
    const url = await fullDatabase();
    await run(url, { ...withFunctions(answer(2)), version: '0.10.0' });
    await run(url, { ...withFunctions(answer(1)), version: '0.9.1' });
    expect(await rows(url, 'select answer()')).toEqual([[2]]);
    await run(url, { ...withFunctions(answer(3)), version: '0.10.1' });
    expect(await rows(url, 'select answer()')).toEqual([[3]]);
  });

  test.each([
    'drop table users;',
    `${answer(1)}\ndrop table users;`,
    'create or replace trigger a after insert on b execute function c(); drop table users;',
    'create function answer() returns int language sql as $$ select 1 $$;',
  ])('and triggers are the only allowed content of such a file: %s', (text) => {
    expect(() => parseFunctions(text, 'file')).toThrow(/^file /);
  });
});
