/**
 * Each table belongs to one folder, which names it in `tables.ts`. Code in other folders must not write to it, but may
 * read its rows and lock them.
 */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { onServer } from './databases.ts';
import { writesOfSource, writesOfSql } from './sql-writes.ts';
import { NAME_EACH_TABLE, ownedTables, readOwners, SOURCES } from './table-owners.ts';

const root = SOURCES;
const files = (await readdir(root, { recursive: true })).filter(
  (file) => /\.(ts|sql)$/.test(file) && !/\.(test|system)\.ts$/.test(file),
);

const owned = await ownedTables();
const ownerOf = new Map(owned.map(([owner, table]) => [table, owner]));

/** Writes to a table from outside of its owner's folder, and writes that do not say what they write to. */
async function violations(file: string, text: string): Promise<string[]> {
  const writes = file.endsWith('.sql') ? writesOfSql(text) : await writesOfSource(text, file);
  return writes.flatMap(({ table, text: statement }) => {
    if (table === undefined) return [`${file}: does not say which table it writes to: ${statement}`];
    const owner = ownerOf.get(table);
    if (owner === undefined || !relative(owner, dirname(file)).startsWith('..')) return [];
    return [`${file}: writes ${table} of ${owner}`];
  });
}

test('each table of the schema has exactly one owner, and each owned table exists', async () => {
  const client = new pg.Client({
    connectionString: onServer(inject('postgresUrl'), inject('templateDatabase')),
  });
  await client.connect();
  try {
    const { rows } = await client.query(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
    );
    const names = owned.map(([, table]) => table).sort();
    const hint = `a table without an owner: ${NAME_EACH_TABLE}`;
    expect(names, hint).toEqual(rows.map(({ name }) => name));
  } finally {
    await client.end();
  }
});

test('a table without an owner is named, and so is the file that it is missing from', async () => {
  const ownerOf = await readOwners();
  expect(ownerOf('reports')).toBe('domains/reports');
  expect(() => ownerOf('glossary_terms')).toThrow(/glossary_terms has no owner: .*`tables\.ts`/);
});

/** Known violations, each with its reason. A line that is no longer true fails, so that the list can only shrink. */
const EXCEPTIONS = [
  // A restore writes to all tables of a database that was empty.
  'platform/db/backup/load.ts: does not say which table it writes to: copy … ( … )',
  'platform/db/backup/load.ts: does not say which table it writes to: truncate …',
  // Writes only to the columns that the owners of their tables ask `Platform.box` for, to seal them with another key.
  'platform/secrets/store.ts: does not say which table it writes to: update … set … =',
];

test('a table is written only below the folder of its owner', async () => {
  const texts = files.map(async (file) => violations(file, await readFile(join(root, file), 'utf8')));
  expect((await Promise.all(texts)).flat().sort()).toEqual(EXCEPTIONS);
});

/** Sources in `domains/reports` that write to tables of others, or to unknown tables. `#{` begins a substitution. */
const OFFENCES: Record<string, string> = {
  insert: 'sql`insert into users (id) values (1)`',
  'any case, newlines and comments': 'sql`INSERT /* so */\n  INTO -- there\n\t"users" values (1)`',
  'a schema': 'sql`delete from public.users`',
  'a quoted schema': 'sql`delete from "public"."users"`',
  only: 'sql`update only users set id = 1`',
  'an alias': 'sql`update users as u set id = 1`',
  'a CTE': 'sql`with gone as (delete from users returning id) select * from gone`',
  'a CTE before the statement': 'sql`with a as (select 1 from reports) update users u set id = a.id from a`',
  'several targets': 'sql`truncate table only reports, users cascade`',
  merge: 'sql`merge into users using reports on true when matched then delete`',
  copy: 'sql`copy users (id) from stdin`',
  'an upsert':
    'sql`insert into reports (id) values (1); insert into users values (2) on conflict do nothing`',
  'a name that is put in': 'sql`delete from #{table} where id = 1`',
  'a name that is put in with an update': 'sql`update #{table} set id = 1`',
  'a keyword that is put in': 'sql`delete #{raw("from users")}`',
  'text that is no tagged template': "client.query('delete from users')",
  'texts that are added': "client.query('delete ' + 'from users')",
  'raw text': "raw('update users set id = 1')",
  'a text within a template': 'sql`select #{raw("x")}, #{sql`(delete from users)`}`',
};

test.each(Object.entries(OFFENCES))('the check finds %s', async (_what, code) => {
  const source = `export const x = ${code.replaceAll('#{', '${')};`;
  expect(await violations('domains/reports/store.ts', source)).toHaveLength(1);
});

test('the check finds statements in functions, including those that a function executes as text', async () => {
  const bodies = [
    'begin update users set id = 1; end',
    "begin execute 'delete from users where id = 1'; end",
    "begin execute format('delete from users where id = %s', 1); end",
  ];
  for (const body of bodies) {
    const text = `create or replace function f() returns void language plpgsql as $$\n${body}\n$$;`;
    expect(await violations('domains/reports/functions.sql', text)).toHaveLength(1);
    expect(await violations('domains/users/functions.sql', text)).toEqual([]);
  }
});

test.each([
  'sql`select from users for update`',
  'sql`select from users for no key update of u skip locked`',
  'sql`insert into reports (id) select id from users on conflict (id) do update set id = excluded.id`',
  'sql`delete from reports r using users u where u.id = r.user_id`',
  'sql`with users as (select 1) update reports set id = 1`',
  'sql`select 1 -- delete from users`',
  "new Error('cannot update users, or delete those from elsewhere')",
])('the check allows statements that only read tables of others: %s', async (code) => {
  expect(await violations('domains/reports/store.ts', `export const x = ${code};`)).toEqual([]);
});
