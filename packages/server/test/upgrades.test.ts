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
    expect(await upgrade(upTo(schema, Number(version)))).toEqual([]);
    await fill(client, Number(version));
    const empty = [...(await readRows(client))].filter(
      ([table, rows]) => !rows.size && table !== 'schema_functions',
    );
    expect(empty.map(([table]) => table)).toEqual([]);
  },
);

test('the schema is the same as in a new database', async () => {
  expect(await upgrade(schema)).toEqual([]);
  expect(await dumpSchema(onServer(postgresUrl, name))).toBe(
    await dumpSchema(onServer(postgresUrl, inject('templateDatabase'))),
  );
});

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
