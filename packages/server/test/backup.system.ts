/** Backups of databases with rows in every table, and their restores. See acceptance/backup.system.ts for the commands. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Header, readArchive, writeArchive } from '../src/platform/db/backup/archive.ts';
import {
  hasTables,
  listPartitions,
  listSequences,
  type Sequence,
} from '../src/platform/db/backup/catalogue.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import type { Migration } from '../src/platform/db/migrations.ts';
import { backUp, type Changes, restore as restoreFrom, rewrite, SECRET_KEY } from './backups.ts';
import { createDatabase, dropDatabase, onServer, readOwnSchema, upTo } from './databases.ts';
import { fill, readRows } from './fill.ts';
import { dumpSchema } from './schema-dump.ts';

const OTHER_KEY = 'uE6aYp3sGd8lJf5rMc9kXz2qNb7vWt4h';

const postgresUrl = inject('postgresUrl');
const schema = await readOwnSchema();
const made: string[] = [];
const clients: pg.Client[] = [];
let folder: string;
/** A backup of a database with rows in every table. */
let file: string;
let source: pg.Client;
/** The rows at the moment of the backup. */
let expected: Awaited<ReturnType<typeof readRows>>;

async function database(template?: string) {
  const name = await createDatabase(postgresUrl, template);
  made.push(name);
  const url = onServer(postgresUrl, name);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  clients.push(client);
  return { name, url, client };
}

const restore = (url: string, from: string, secretKey = SECRET_KEY) =>
  restoreFrom(from, { url, dataDir: join(folder, 'data'), secretKey });

/** Writes to two tables in one transaction. */
const writePair = (client: pg.Client) =>
  client.query(`
    with g as (insert into user_groups (name) select 'pair-' || count(*) from user_groups returning id)
    insert into audit_log (operation, resource_type, resource_id) select 'pair', 'userGroup', id::text from g`);

beforeAll(async () => {
  folder = await mkdtemp(join(inject('runFolder'), 'backup-'));
  file = join(folder, 'whole.backup');
  const { url, client } = await database(inject('templateDatabase'));
  source = client;
  for (const n of [1, 2, 3]) await fill(client, n);
  // Gives the entries of earlier months their own partitions.
  await client.query('select make_audit_months()');
  for (let i = 0; i < 5; i++) await writePair(client);
  await backUp(url, file, {
    describe: async () => {
      expected = await readRows(client);
    },
    beside: async () => void (await writePair(client)),
  });
});
afterAll(async () => {
  for (const client of clients) await client.end();
  for (const name of made) await dropDatabase(postgresUrl, name);
});

test('a backup holds one moment, and a restore brings back every table, sequence, partition and rule', async () => {
  const { url, client } = await database();
  await restore(url, file);
  const restored = await readRows(client);
  expect(restored.get('signing_keys')!.size).toBe(0);
  // A restore writes the functions of its own version, and ends embed tokens by their keys.
  for (const rows of [restored, expected]) {
    rows.delete('schema_functions');
    rows.delete('signing_keys');
    rows.delete('workload_keys');
  }
  expect([...restored.keys()].sort()).toEqual([...expected.keys()].sort());
  for (const [table, rows] of expected) expect([table, restored.get(table)]).toEqual([table, rows]);
  expect(restored.get('audit_log')!.size).toBeGreaterThan(10);

  expect(await dumpSchema(url)).toBe(await dumpSchema(onServer(postgresUrl, inject('templateDatabase'))));
  expect(await listPartitions(client)).toEqual(await listPartitions(source));
  const { rows } = await client.query(
    "select tableoid::regclass::text as partition from audit_log where created_at < '2026-02-01'",
  );
  expect(new Set(rows.map(({ partition }) => partition))).toEqual(new Set(['audit_log_2026_01']));
  for await (const entry of readArchive(file)) {
    if (!('totals' in entry)) continue;
    const own = (sequences: Sequence[]) => sequences.filter(({ name }) => name !== 'sessions_id_seq');
    expect(own(await listSequences(client))).toEqual(own(entry.totals.sequences));
  }
  // The sequences go on, and triggers and keys are in force.
  await writePair(client);
  await expect(client.query('delete from audit_log')).rejects.toThrow();
  await expect(client.query('insert into user_group_members select 1, 999999')).rejects.toThrow();
  const disabled = await client.query("select tgname from pg_trigger where tgenabled = 'D'");
  expect(disabled.rows).toEqual([]);

  await expect(restore(url, file)).rejects.toThrow(/^The database is not empty/);
});

test('a backup of an older version is restored, and then upgraded', async () => {
  const older = await database();
  await migrate({ connectionString: older.url }, upTo(schema, 30));
  await fill(older.client, 30);
  const users = (await older.client.query('select id, username from users order by id')).rows;
  expect(users.length).toBeGreaterThan(0);
  const path = join(folder, 'older.backup');
  await backUp(older.url, path);
  const { url, client } = await database();
  await restore(url, path);
  expect((await client.query('select id, username from users order by id')).rows).toEqual(users);
  expect(await dumpSchema(url)).toBe(await dumpSchema(onServer(postgresUrl, inject('templateDatabase'))));
});

test('only whole backups of known versions are restored, with their key, and a failure leaves nothing', async () => {
  const { url, client } = await database();
  const whole = await readFile(file);
  const refused = async (bytes: Buffer, reason: RegExp, secretKey?: string) => {
    const path = join(folder, 'changed.backup');
    await writeFile(path, bytes);
    const error = await restore(url, path, secretKey).catch((thrown) => thrown);
    expect(error.message).toMatch(reason);
    expect(error.message).not.toContain('\n');
    expect(await hasTables(client)).toBe(false);
  };
  const damagedAt = (at: number) => {
    const copy = Buffer.from(whole);
    copy[at]! ^= 0xff;
    return copy;
  };
  for (const part of [0.3, 0.6, 0.9]) {
    await refused(whole.subarray(0, whole.length * part), /is damaged or incomplete/);
    await refused(damagedAt(Math.floor(whole.length * part)), /is damaged or incomplete/);
  }
  const text = gunzipSync(whole);
  await refused(gzipSync(text.subarray(0, text.lastIndexOf('{"totals"'))), /its end is missing/);
  await refused(gzipSync(Buffer.concat([text, text])), /something follows its end/);
  await refused(
    gzipSync(Buffer.from(text.toString('latin1').replace('pair-', 'pear-'), 'latin1')),
    /checksum/,
  );
  await refused(Buffer.from('no backup'), /is not a backup of Oriel/);
  await refused(gzipSync('{"other":1}\n'), /is not a backup of Oriel/);
  await refused(whole, /another secret key/, OTHER_KEY);

  const withHeader = (change: (header: Header) => object) => {
    const end = text.indexOf('\n');
    const header = JSON.parse(text.subarray(0, end).toString());
    return gzipSync(
      Buffer.concat([Buffer.from(JSON.stringify({ ...header, ...change(header) })), text.subarray(end)]),
    );
  };
  await refused(
    withHeader(() => ({ format: 2, version: '9.0.0' })),
    /has the format 2.*Oriel 9\.0\.0/,
  );
  const next = { version: 999, name: 'next', checksum: 'x' };
  await refused(
    withHeader(({ migrations }) => ({ migrations: [...migrations, next] })),
    /has schema version \d+, and this Oriel knows/,
  );
});

test('a restore that fails half way leaves nothing', async () => {
  const { url, client } = await database();
  const rewritten = async (rows: Changes['rows']) => {
    const path = join(folder, `wrong-${Math.random()}.backup`);
    await rewrite(file, path, { rows });
    return path;
  };
  const otherRows = await rewritten((rows) => rows.replace('pair-', 'pear-'));
  await expect(restore(url, otherRows)).rejects.toThrow(/^The restored table user_groups has other rows/);
  expect(await hasTables(client)).toBe(false);
  const refusedRow = await rewritten((rows, table) => (table === 'users' ? `${rows}nonsense\n` : rows));
  await expect(restore(url, refusedRow)).rejects.toThrow(/invalid input syntax|missing data/);
  expect(await hasTables(client)).toBe(false);
});

test('a file has the name of a backup only when it is whole, and replaces no other', async () => {
  const path = join(folder, 'named.backup');
  await writeArchive(path, async ({ header }) => {
    await header({} as Header);
    expect(existsSync(path)).toBe(false);
  });
  const taken = join(folder, 'taken.backup');
  const work = writeArchive(taken, async () => writeFile(taken, 'theirs'));
  await expect(work).rejects.toThrow(`The file ${taken} exists already: name another one.`);
  expect(await readFile(taken, 'utf8')).toBe('theirs');
  expect((await readdir(folder)).filter((name) => name.includes('unfinished'))).toEqual([]);
});

test('a file that cannot grow is named as the reason', async () => {
  const path = join(folder, 'large.backup');
  const script = `
    import { randomBytes } from 'node:crypto';
    import { writeArchive } from '${join(import.meta.dirname, '../src/platform/db/backup/archive.ts')}';
    await writeArchive('${path}', async ({ part }) => {
      for (let i = 0; i < 40; i++) await part({ table: 'users' }, randomBytes(256 * 1024));
    }).catch(({ constructor, message }) => console.log(constructor.name, message));`;
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -f 256; exec "$@"', 'sh', ...node], {
    env: { ...process.env, TSX_DISABLE_CACHE: '1' },
  });
  expect(stdout).toMatch(/^StartupError The backup cannot be written: EFBIG: .*\.\n$/);
  expect((await readdir(folder)).filter((name) => name.startsWith('large'))).toEqual([]);
});

test('a table that is dropped beside a backup is left out', async () => {
  const { url, client } = await database(inject('templateDatabase'));
  await client.query('create table dropped (id int)');
  const { rows } = await client.query(`
    select 'dropped'::regclass::oid as relation, oid as database
    from pg_database where datname = current_database()`);
  await client.query('begin; drop table dropped');
  const path = join(folder, 'dropped.backup');
  const making = backUp(url, path);
  const waiting = 'select from pg_locks where not granted and relation = $1 and database = $2';
  const { relation, database: oid } = rows[0];
  await expect.poll(async () => (await source.query(waiting, [relation, oid])).rowCount).toBe(1);
  await client.query('commit');
  await making;
  for await (const entry of readArchive(path)) {
    if ('header' in entry) expect(entry.header.tables.map(({ name }) => name)).not.toContain('dropped');
  }
});

test('backups and restores do not depend on settings of the database', async () => {
  const from = await database(inject('templateDatabase'));
  await fill(from.client, 1);
  const into = await database();
  for (const { name } of [from, into])
    await source.query(`alter database ${name} set bytea_output = 'escape'`);
  await source.query(`alter database ${from.name} set idle_in_transaction_session_timeout = '20ms'`);
  const path = join(folder, 'settings.backup');
  await backUp(from.url, path, { describe: () => sleep(200) });
  await restore(into.url, path);
});

test('a backup that cannot be written leaves no file', async () => {
  const path = join(folder, 'failing.backup');
  const work = writeArchive(path, async ({ part }) => {
    await part({ table: 'users' }, Buffer.alloc(1_000_000));
    throw new Error('no more');
  });
  await expect(work).rejects.toThrow('no more');
  await expect(writeArchive(join(folder, 'none/a.backup'), async () => {})).rejects.toThrow(
    /^The backup cannot be written: /,
  );
  expect((await readdir(folder)).filter((name) => name.includes('failing'))).toEqual([]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a restore refuses files that a new deployment would get', async () => {
  const { url, client } = await database();
  const { rows } = await source.query(
    "select last_value from pg_sequences where sequencename = 'deployments_id_seq'",
  );
  const dataDir = join(folder, 'with-files');
  const folderOf = (id: number) => join(dataDir, 'files', String(id));
  const id = Number(rows[0].last_value ?? 0) + 1;
  await mkdir(folderOf(id), { recursive: true });
  const attempt = restoreFrom(file, { url, dataDir, secretKey: SECRET_KEY });
  await expect(attempt).rejects.toThrow(`The folder ${folderOf(id)} belongs to a deployment that is younger`);
  expect(await hasTables(client)).toBe(false);
});

test('a migration waits for a backup, however long it takes', async () => {
  const { url, client } = await database(inject('templateDatabase'));
  const added: Migration = {
    version: schema.migrations.length + 1,
    name: 'added',
    text: 'alter table users add column added int',
    checksum: 'added',
  };
  const next = { ...schema, migrations: [...schema.migrations, added] };
  let migrated: Promise<void> | undefined;
  await backUp(url, join(folder, 'beside-migration.backup'), {
    describe: () =>
      new Promise((resolve, reject) => {
        migrated = migrate({ connectionString: url }, next, resolve);
        migrated.then(() => reject(new Error('the migration did not wait')), reject);
      }),
  });
  await migrated;
  await expect(client.query('select added from users')).resolves.toBeDefined();
});
