/** Constraints of the database whose violation becomes an error for the caller, by their names in the sources. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { onServer } from './databases.ts';
import { SOURCES } from './table-owners.ts';

/** Values are checked against smaller limits than these, or are shortened, before anything is stored. */
const CHECKED_BEFORE = [
  'deployment_log_lines_message_max_4_kb',
  'tenant_settings_app_config_check',
  'users_embed_theme_check',
  'users_security_context_check',
  'workbooks_dashboard_outline_max_8_kb',
];

const files = (await readdir(SOURCES, { recursive: true })).filter((file) => /(?<!\.test)\.ts$/.test(file));
const text = (await Promise.all(files.map((file) => readFile(join(SOURCES, file), 'utf8')))).join('\n');

function declared(): Record<string, number> {
  const found = text.matchAll(/^ {2}'?([\w.]+)'?: tooLarge\('[\w.]+', (\d+)\),$/gm);
  return Object.fromEntries([...found].map(([, name, kb]) => [name!, Number(kb)]));
}

async function query<Row extends object>(statement: string): Promise<Row[]> {
  const client = new pg.Client({
    connectionString: onServer(inject('postgresUrl'), inject('templateDatabase')),
  });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

test('every constraint or unique index that the sources name exists in the catalogue', async () => {
  const rows = await query<{ name: string }>(`
    select conname as name from pg_constraint union all
    select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid where i.indisunique`);
  const known = new Set(rows.map(({ name }) => name));
  const blocks = [...text.matchAll(/refusing\(\{([\s\S]*?)\}\)/g)].map(([, block]) => block!);
  const names = blocks.flatMap((block) =>
    [...block.matchAll(/'?([a-z][\w.]*_(?:key|fkey|kb|check|pkey))'?:/g)].map(([, name]) => name!),
  );
  expect(names.length).toBeGreaterThan(25);
  expect(names.filter((name) => !known.has(name))).toEqual([]);
});

test('each field with a limit in bytes has an error that names it, with the limit of the catalogue', async () => {
  const rows = await query<{ name: string; definition: string }>(`
    select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
    where contype = 'c' and connamespace = 'public'::regnamespace and pg_get_constraintdef(oid) like '%octet_length%'`);
  const bounds = rows
    .filter(({ name }) => !CHECKED_BEFORE.includes(name))
    .map(({ name, definition }) => {
      const [, kb, bytes] = /<= \(?(?:(\d+) \* 1024|(\d+))/.exec(definition)!;
      return [name, kb ? Number(kb) : Number(bytes) / 1024];
    });
  expect(bounds.length).toBeGreaterThan(20);
  expect(declared()).toEqual(Object.fromEntries(bounds));
});
