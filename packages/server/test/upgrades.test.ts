/** From every earlier version, with rows in every table: the same schema is reached, and nothing is lost. */
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { migrate } from '../src/platform/db/migrate.ts';
import { createDatabase, dropDatabase, onServer, readOwnSchema, upTo } from './databases.ts';
import { fill, readRows } from './fill.ts';
import { dumpSchema } from './schema-dump.ts';

/** What a migration takes away on purpose: a table, or a column of one. */
const GIVEN_UP: Record<string, string> = {
  'user_groups.namespace': 'each embed tenant has one catalogue of groups since version 16',
};

const postgresUrl = inject('postgresUrl');
const schema = await readOwnSchema();

/** Goes through all versions, and gets more rows in each. */
let growing: string;
let fresh: string;
beforeAll(async () => {
  growing = await createDatabase(postgresUrl);
  fresh = await dumpSchema(onServer(postgresUrl, inject('templateDatabase')));
});
afterAll(() => dropDatabase(postgresUrl, growing));

async function using<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: onServer(postgresUrl, database) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

test.each(schema.migrations.map(({ version }) => version))('from version %i', async (version) => {
  await migrate({ connectionString: onServer(postgresUrl, growing) }, upTo(schema, version));
  await using(growing, (client) => fill(client, version));
  const copy = await createDatabase(postgresUrl, growing);
  try {
    const before = await using(copy, readRows);
    await migrate({ connectionString: onServer(postgresUrl, copy) }, schema);
    const after = await using(copy, readRows);
    expect(lost(before, after)).toEqual([]);
    expect(await dumpSchema(onServer(postgresUrl, copy))).toBe(fresh);
  } finally {
    await dropDatabase(postgresUrl, copy);
  }
});

type Rows = Awaited<ReturnType<typeof readRows>>;

function lost(before: Rows, after: Rows): string[] {
  const missing: string[] = [];
  for (const [table, rows] of before) {
    if (!rows.size && table !== 'schema_functions') missing.push(`${table} had no rows to lose`);
    for (const [key, row] of rows) {
      const kept = after.get(table)?.get(key);
      if (!kept) missing.push(`${table} ${key}`);
      for (const [column, value] of Object.entries(kept ? row : {})) {
        if (JSON.stringify(kept![column]) === JSON.stringify(value) || `${table}.${column}` in GIVEN_UP)
          continue;
        missing.push(
          `${table} ${key}: ${column} was ${JSON.stringify(value)}, and is ${JSON.stringify(kept![column])}`,
        );
      }
    }
  }
  return missing.filter((line) => !(line.split(' ')[0]! in GIVEN_UP));
}
