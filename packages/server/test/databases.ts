/** Creates separate databases for tests, on the PostgreSQL server under test. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { SCHEMA_FILES } from '../src/build-info.ts';
import { readSchema, type Schema } from '../src/platform/db/migrate.ts';

export const readOwnSchema = () => readSchema(SCHEMA_FILES);

/** The database as it was at this version, when migrations also created the functions. */
export const upTo = (schema: Schema, version: number): Schema => ({
  ...schema,
  migrations: schema.migrations.filter((migration) => migration.version <= version),
  functions: [],
});

/** The address of another database on the same server. */
export function onServer(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export async function createDatabase(serverUrl: string, template?: string): Promise<string> {
  const name = `${template ?? 'oriel_test'}_${randomBytes(6).toString('hex')}`;
  await administer(
    serverUrl,
    `create database ${name} ${template ? `template ${template} strategy file_copy` : ''}`,
  );
  return name;
}

/**
 * Drops a database. It first waits a while for connections that are being closed: `force` would end them with an error
 * that no code handles.
 */
export async function dropDatabase(serverUrl: string, name: string) {
  const connected = `select from pg_stat_activity where datname = '${name}'`;
  for (let looks = 0; looks < 20 && (await administer(serverUrl, connected)).rowCount; looks++)
    await sleep(50);
  await administer(serverUrl, `drop database if exists ${name} with (force)`);
}

/** Drops the databases that were made from this template. */
export async function dropCopies(serverUrl: string, template: string) {
  const { rows } = await administer(
    serverUrl,
    `select datname as name from pg_database where datname like '${template}\\_%'`,
  );
  for (const { name } of rows) await dropDatabase(serverUrl, name);
}

/** Runs a statement outside of the databases under test. */
export async function administer(serverUrl: string, statement: string) {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}
