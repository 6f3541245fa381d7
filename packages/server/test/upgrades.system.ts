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
 * After each migration beyond this one, servers of the version before must go on working. A migration that cannot keep
 * this rule is named here, and in the notes of its release.
 */
const ROLLING_SINCE = 50;
const NOT_ROLLING: readonly number[] = [];
/** New rules for columns that exist already, by table and name, each with the reason why old servers never break it. */
const HARMLESS_RULES: Readonly<Record<string, string>> = {
  'git_installations.git_installations_kind_check': 'It allows one more kind, and the kinds before all stay.',
  'git_installations.git_installations_app_check':
    'Old servers write neither the new kind nor the new column, which is null then.',
};

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

/** Migrates the database, and returns what was lost. */
async function upgrade(to: Schema): Promise<string[]> {
  const before = await readRows(client);
  await migrate({ connectionString: onServer(postgresUrl, name) }, to);
  return lost(before, await readRows(client), to.migrations.length);
}

test.each(schema.migrations.map(({ version, name }) => [version, name]))(
  'migration %i (%s) keeps the existing data',
  async (version) => {
    const before = await readTables(client);
    expect(await upgrade(upTo(schema, Number(version)))).toEqual([]);
    if (Number(version) > ROLLING_SINCE && !NOT_ROLLING.includes(Number(version))) {
      expect(whatOldServersMiss(before, await readTables(client))).toEqual([]);
    }
    await fill(client, Number(version));
    const empty = [...(await readRows(client))].filter(
      ([table, rows]) => !rows.size && table !== 'schema_functions',
    );
    expect(empty.map(([table]) => table)).toEqual([]);
  },
);

test('a change that servers of the version before would not survive is found', async () => {
  const before = await readTables(client);
  const afterwards = async (statement: string, harmless = {}) => {
    await client.query('begin');
    try {
      await client.query(statement);
      return whatOldServersMiss(before, await readTables(client), harmless);
    } finally {
      await client.query('rollback');
    }
  };
  expect(await afterwards('alter table jobs add a int, add b int not null default 1')).toEqual([]);
  expect(await afterwards('create table others (a int not null primary key check (a > 0))')).toEqual([]);
  expect(await afterwards('create index on jobs (kind)')).toEqual([]);
  const truncated = (change: string) => afterwards(`truncate jobs cascade; alter table jobs ${change}`);
  expect(await truncated('add a int not null')).toEqual(['jobs.a must be nullable or have a default']);
  expect(await truncated('drop kind')).toEqual(['jobs.kind must stay']);
  expect(await truncated('alter kind type varchar')).toEqual(['jobs.kind must stay of type text']);
  // Old servers write the null themselves, so a default does not help them.
  const stricter = 'alter last_error set not null';
  expect(await truncated(stricter)).toEqual(['jobs.last_error must stay nullable']);
  expect(await truncated(`alter last_error set default '', ${stricter}`)).toEqual([
    'jobs.last_error must stay nullable',
  ]);

  expect(await truncated('add a int check (a > 0) references users (id)')).toEqual([]);
  expect(await truncated('add a int unique')).toEqual([]);
  expect(await truncated('add a int not null default 1 unique')).toEqual([
    'jobs must not get the rule jobs_a_key',
  ]);
  const rule = ['jobs must not get the rule strict'];
  expect(await truncated(`add constraint strict check (kind <> '')`)).toEqual(rule);
  expect(await truncated('add constraint strict unique (kind)')).toEqual(rule);
  expect(await truncated('add constraint strict foreign key (attempts) references users (id)')).toEqual(rule);
  expect(await truncated('add a int, add constraint strict check (a > attempts)')).toEqual(rule);
  const index = `truncate jobs cascade; create unique index strict on jobs (lower(kind)) where attempts > 0`;
  expect(await afterwards(index)).toEqual(rule);
  expect(await afterwards(index, { 'jobs.strict': 'No two jobs of a kind were ever tried.' })).toEqual([]);
  const changed = `drop constraint jobs_state_check, add constraint jobs_state_check check (state <> 'done')`;
  expect(await truncated(changed)).toEqual(['jobs must not get the rule jobs_state_check']);
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

/** A check, a foreign key, or a unique index: what a row can violate, besides the types and nulls of its columns. */
interface Rule {
  name: string;
  definition: string;
  isUnique: boolean;
  columns: string[];
}

interface Table {
  columns: Column[];
  rules: Rule[];
}

const TABLES = `c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;

/** The tables, by name. */
async function readTables(client: pg.Client): Promise<Map<string, Table>> {
  const { rows } = await client.query<{ table: string; columns: Column[] }>(`
    select c.relname as table, json_agg(json_build_object(
      'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'isNullable', not a.attnotnull,
      'hasDefault', a.atthasdef or a.attidentity <> '')) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where ${TABLES} group by c.relname`);
  const rules = await readRules(client);
  return new Map(rows.map(({ table, columns }) => [table, { columns, rules: rules.get(table) ?? [] }]));
}

/** The rules, by table. A unique constraint is found by its index, which holds also those that are indexes only. */
async function readRules(client: pg.Client): Promise<Map<string, Rule[]>> {
  const { rows } = await client.query<{ table: string; rules: Rule[] }>(`
    with rules as (
      select conrelid as relation, conname as name, pg_get_constraintdef(oid) as definition, false as is_unique,
        oid, 'pg_constraint'::regclass as catalogue
      from pg_constraint where contype in ('c', 'f', 'x')
      union all
      select i.indrelid, i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid), true,
        coalesce(k.oid, i.indexrelid), case when k.oid is null then 'pg_class' else 'pg_constraint' end::regclass
      from pg_index i left join pg_constraint k on k.conindid = i.indexrelid and k.contype in ('p', 'u')
      where i.indisunique)
    select c.relname as table, json_agg(json_build_object(
      'name', r.name, 'definition', r.definition, 'isUnique', r.is_unique,
      'columns', array(
        select distinct a.attname::text from pg_depend d
        join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
        where d.classid = r.catalogue and d.objid = r.oid and d.refobjid = c.oid and d.refobjsubid > 0))) as rules
    from rules r join pg_class c on c.oid = r.relation
    where ${TABLES} group by c.relname`);
  return new Map(rows.map(({ table, rules }) => [table, rules]));
}

function whatOldServersMiss(
  before: Map<string, Table>,
  after: Map<string, Table>,
  harmless: Readonly<Record<string, string>> = HARMLESS_RULES,
): string[] {
  const lines: string[] = [];
  for (const [table, { columns, rules }] of before) {
    const now = after.get(table) ?? { columns: [], rules: [] };
    for (const { name, type, isNullable } of columns) {
      const column = now.columns.find((other) => other.name === name);
      if (!column) lines.push(`${table}.${name} must stay`);
      else if (column.type !== type) lines.push(`${table}.${name} must stay of type ${type}`);
      else if (isNullable && !column.isNullable) lines.push(`${table}.${name} must stay nullable`);
    }
    const added = now.columns.filter(({ name }) => !columns.some((other) => other.name === name));
    for (const { name, isNullable, hasDefault } of added) {
      if (!isNullable && !hasDefault) lines.push(`${table}.${name} must be nullable or have a default`);
    }
    for (const rule of now.rules) {
      const isKnown = rules.some((other) => other.name === rule.name && other.definition === rule.definition);
      if (isKnown || harmless[`${table}.${rule.name}`] || holdsForDefaults(rule, added)) continue;
      lines.push(`${table} must not get the rule ${rule.name}`);
    }
  }
  return lines;
}

/** Old servers leave the added columns at their defaults: valid in every row, but several rows have them. */
function holdsForDefaults({ isUnique, columns }: Rule, added: Column[]): boolean {
  const used = columns.map((name) => added.find((column) => column.name === name));
  if (!used.every((column) => column !== undefined)) return false;
  return !isUnique || used.some(({ isNullable, hasDefault }) => isNullable && !hasDefault);
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
