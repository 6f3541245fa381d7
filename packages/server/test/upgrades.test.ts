/**
 * A database of any earlier version, with rows in every table, gets the same schema and loses nothing. One database goes
 * through all versions and gets more rows in each, so that rows from every version go through every later migration.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { migrate, type Schema } from '../src/platform/db/migrate.ts';
import { createDatabase, dropDatabase, onServer, readOwnSchema, upTo } from './databases.ts';
import { fill, readRows } from './fill.ts';
import { dumpSchema } from './schema-dump.ts';

/** Data that a migration removes on purpose, with its version: the rows of a table, or the values of a column. */
const GIVEN_UP: Record<string, number> = {
  // Each embed tenant has one catalogue of groups.
  'user_groups.namespace': 16,
  // The server creates its own schedules again at each start, and users had no schedules.
  job_schedules: 26,
};

/**
 * Servers of the version before go on working after each later migration. A migration that can not be like that is named
 * here, and in the notes of its release.
 */
const ROLLING_SINCE = 50;
const NOT_ROLLING: readonly number[] = [];

const postgresUrl = inject('postgresUrl');
const schema = await readOwnSchema();

let name: string;
let client: pg.Client;
beforeAll(async () => {
  name = await createDatabase(postgresUrl);
  client = new pg.Client({ connectionString: onServer(postgresUrl, name) });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await dropDatabase(postgresUrl, name);
});

/** What that took away. */
async function upgrade(to: Schema): Promise<string[]> {
  const before = await readRows(client);
  await migrate({ connectionString: onServer(postgresUrl, name) }, to);
  return lost(before, await readRows(client), to.migrations.length);
}

test.each(schema.migrations.map(({ version, name }) => [version, name]))(
  'migration %i (%s) keeps the existing data',
  async (version) => {
    const before = await readColumns(client);
    expect(await upgrade(upTo(schema, Number(version)))).toEqual([]);
    if (Number(version) > ROLLING_SINCE && !NOT_ROLLING.includes(Number(version))) {
      expect(whatOldServersMiss(before, await readColumns(client))).toEqual([]);
    }
    await fill(client, Number(version));
    const empty = [...(await readRows(client))].filter(
      ([table, rows]) => !rows.size && table !== 'schema_functions',
    );
    expect(empty.map(([table]) => table)).toEqual([]);
  },
);

test('a change that servers of the version before would not survive is found', async () => {
  const before = await readColumns(client);
  const afterwards = async (statement: string) => {
    await client.query('begin');
    await client.query(statement);
    const missed = whatOldServersMiss(before, await readColumns(client));
    await client.query('rollback');
    return missed;
  };
  expect(await afterwards('alter table jobs add a int, add b int not null default 1')).toEqual([]);
  expect(await afterwards('create table others (a int not null)')).toEqual([]);
  const truncated = (change: string) => afterwards(`truncate jobs cascade; alter table jobs ${change}`);
  expect(await truncated('add a int not null')).toEqual(['jobs.a must be nullable or have a default']);
  expect(await truncated('alter last_error set not null')).toEqual(['jobs.last_error must stay nullable']);
  expect(await truncated('drop kind')).toEqual(['jobs.kind must stay']);
  expect(await truncated('alter kind type varchar')).toEqual(['jobs.kind must stay of type text']);
});

test('the schema is the same as in a new database', async () => {
  expect(await upgrade(schema)).toEqual([]);
  expect(await dumpSchema(onServer(postgresUrl, name))).toBe(
    await dumpSchema(onServer(postgresUrl, inject('templateDatabase'))),
  );
});

interface Column {
  name: string;
  type: string;
  isNullable: boolean;
  hasDefault: boolean;
}

/** By table. */
async function readColumns(client: pg.Client): Promise<Map<string, Column[]>> {
  const { rows } = await client.query<{ table: string; columns: Column[] }>(`
    select c.relname as table, json_agg(json_build_object(
      'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'isNullable', not a.attnotnull,
      'hasDefault', a.atthasdef or a.attidentity <> '')) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    group by c.relname`);
  return new Map(rows.map(({ table, columns }) => [table, columns]));
}

function whatOldServersMiss(before: Map<string, Column[]>, after: Map<string, Column[]>): string[] {
  const lines: string[] = [];
  for (const [table, columns] of before) {
    const now = after.get(table) ?? [];
    for (const { name, type, isNullable } of columns) {
      const column = now.find((other) => other.name === name);
      if (!column) lines.push(`${table}.${name} must stay`);
      else if (column.type !== type) lines.push(`${table}.${name} must stay of type ${type}`);
      else if (isNullable && !column.isNullable && !column.hasDefault) {
        lines.push(`${table}.${name} must stay nullable`);
      }
    }
    for (const { name, isNullable, hasDefault } of now) {
      if (columns.some((other) => other.name === name)) continue;
      if (!isNullable && !hasDefault) lines.push(`${table}.${name} must be nullable or have a default`);
    }
  }
  return lines;
}

type Rows = Awaited<ReturnType<typeof readRows>>;

function lost(before: Rows, after: Rows, version: number): string[] {
  const lines: string[] = [];
  for (const [table, rows] of before) {
    if (GIVEN_UP[table] === version) continue;
    for (const [key, row] of rows) {
      const kept = after.get(table)?.get(key);
      if (!kept) lines.push(`${table} ${key}`);
      for (const [column, value] of Object.entries(kept ? row : {})) {
        const [was, is] = [JSON.stringify(value), JSON.stringify(kept![column])];
        if (was !== is && GIVEN_UP[`${table}.${column}`] !== version) {
          lines.push(`${table} ${key}: ${column} was ${was}, and is ${is}`);
        }
      }
    }
  }
  return lines;
}
