/**
 * Functions and triggers of the database. The files `functions.sql` and `….functions.sql` of a folder hold their
 * current definitions. At a start, every definition in the database that differs is replaced.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type pg from 'pg';

export interface Definition {
  /** `function mint_embed_session`, or `trigger jobs_enqueued on jobs`. */
  name: string;
  text: string;
  checksum: string;
}

const FILE = /^(.+\.)?functions\.sql$/;
const BEGIN = /\n(?=create or replace (?:function|trigger) )/;
/** A function with its body between `$$` and `$$;`, or a trigger. */
const WHOLE =
  /^create or replace (?:(?<fn>function \w+)(?:(?!\$\$)[^;])*\$\$(?:(?!\$\$)[\s\S])*\$\$|(?<trigger>trigger \w+)\s(?:(?!\bon\b)[^;])*(?<table>on \w+)\s[^;]*);$/;

/** Returns the definitions in the files below `dir`. */
export async function readFunctions(dir: string): Promise<Definition[]> {
  const files = (await readdir(dir, { recursive: true })).filter((file) => FILE.test(basename(file))).sort();
  // Without this check, a build that lacks the files would drop all functions from the database.
  if (!files.length) throw new Error(`there are no functions below ${dir}`);
  const texts = await Promise.all(files.map((file) => readFile(join(dir, file), 'utf8')));
  const definitions = texts.flatMap((text, i) => parseFunctions(text, files[i]!));
  const twice = definitions.find(({ name }, i) => definitions.findIndex((d) => d.name === name) !== i);
  if (twice) throw new Error(`${twice.name} is defined twice`);
  return definitions;
}

export function parseFunctions(text: string, file: string): Definition[] {
  const [head, ...statements] = `\n${text}`.split(BEGIN);
  if (withoutComments(head!))
    throw new Error(`${file} begins with something that is neither a function nor a trigger`);
  return statements.map((statement) => {
    // The comment at the end belongs to the next definition.
    const own = statement.replace(/(\n--.*|\s)*$/, '');
    const { fn, trigger, table } = WHOLE.exec(own)?.groups ?? {};
    const name = fn ?? (trigger && `${trigger} ${table}`);
    if (!name)
      throw new Error(`${file} contains something other than functions and triggers: ${own.split('\n')[0]}`);
    return { name, text: own, checksum: createHash('sha256').update(own).digest('hex') };
  });
}

const withoutComments = (text: string) => text.replace(/^--.*$/gm, '').trim();

interface AppliedDefinition {
  name: string;
  checksum: string;
  version: string;
}

const isFunction = ({ name }: { name: string }) => name.startsWith('function ');

/**
 * Brings the database to `definitions`, in the caller's transaction. A server of an older version leaves it as it is:
 * while servers are replaced one by one, an old one may start after a new one has put its functions in place.
 */
export async function applyFunctions(
  client: pg.Client,
  definitions: Definition[],
  version: string,
): Promise<void> {
  const applied = await appliedDefinitions(client);
  if (applied.some((row) => isNewer(row.version, version))) return;
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  const changed = definitions.filter(({ name, checksum }) => checksums.get(name) !== checksum);
  const gone = applied.filter(({ name }) => !definitions.some((definition) => definition.name === name));

  // This order makes sure that a trigger always has its function.
  for (const { name } of gone.filter((row) => !isFunction(row))) await dropTrigger(client, name);
  await createFunctions(client, changed.filter(isFunction));
  for (const { text } of changed.filter((definition) => !isFunction(definition))) await client.query(text);
  const left = await overloads(client, gone.filter(isFunction));
  for (const { signature } of left) await client.query(`drop function ${signature}`);

  await client.query('delete from schema_functions where name = any($1)', [gone.map(({ name }) => name)]);
  await client.query(
    `insert into schema_functions (name, checksum, version)
     select name, checksum, $3 from unnest($1::text[], $2::text[]) as changed (name, checksum)
     on conflict (name) do update set checksum = excluded.checksum, version = excluded.version, applied_at = now()`,
    [changed.map(({ name }) => name), changed.map(({ checksum }) => checksum), version],
  );
}

async function appliedDefinitions(client: pg.Client): Promise<AppliedDefinition[]> {
  await client.query(`
    create table if not exists schema_functions (
      name text primary key,
      checksum text not null,
      version text not null,
      applied_at timestamptz not null default now()
    )`);
  return (await client.query('select name, checksum, version from schema_functions')).rows;
}

/**
 * Bodies are checked after all functions are created, so that the order of the files does not matter. Each name is used
 * once, so any other function with the same name is an older version, and is dropped.
 */
async function createFunctions(client: pg.Client, functions: Definition[]) {
  if (!functions.length) return;
  await client.query('set local check_function_bodies = off');
  const before = await overloads(client, functions);
  for (const definition of functions) await createFunction(client, definition, before);
  const after = await overloads(client, functions);
  const made = after.filter(({ oid }) => !before.some((other) => other.oid === oid));
  const replaced = after.filter(
    ({ oid, name }) => before.some((other) => other.oid === oid) && made.some((other) => other.name === name),
  );
  for (const { signature } of replaced) await client.query(`drop function ${signature}`);
  await client.query('set local check_function_bodies = on');
  await client.query(
    `select case l.lanname when 'sql' then fmgr_sql_validator(p.oid)::text else plpgsql_validator(p.oid)::text end
     from pg_proc p join pg_language l on l.oid = p.prolang where p.oid = any($1)`,
    [after.filter((overload) => !replaced.includes(overload)).map(({ oid }) => oid)],
  );
}

async function createFunction(client: pg.Client, { name, text }: Definition, before: Overload[]) {
  try {
    await client.query(`savepoint definition; ${text}`);
  } catch (error) {
    // The return type or the names of the parameters have changed, and PostgreSQL cannot replace such a function.
    if ((error as pg.DatabaseError).code !== '42P13') throw error;
    await client.query('rollback to savepoint definition');
    for (const overload of before) {
      if (`function ${overload.name}` === name) await client.query(`drop function ${overload.signature}`);
    }
    await client.query(text);
  }
}

interface Overload {
  oid: number;
  name: string;
  signature: string;
}

async function overloads(client: pg.Client, functions: { name: string }[]): Promise<Overload[]> {
  const { rows } = await client.query(
    `select oid, proname as name, oid::regprocedure::text as signature from pg_proc
     where pronamespace = current_schema()::regnamespace and 'function ' || proname = any($1)`,
    [functions.map(({ name }) => name)],
  );
  return rows;
}

/** Does nothing if the table is gone, because the trigger was dropped with it. */
async function dropTrigger(client: pg.Client, name: string) {
  const [, table] = name.split(' on ');
  const { rows } = await client.query('select to_regclass($1) is not null as exists', [table]);
  if (rows[0].exists) await client.query(`drop ${name.replace(/^trigger/, 'trigger if exists')}`);
}

function isNewer(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) =>
    text.split('.').map((part) => Number.parseInt(part, 10)),
  );
  const differing = left!.findIndex((part, i) => part !== right![i]);
  return differing >= 0 && left![differing]! > right![differing]!;
}
