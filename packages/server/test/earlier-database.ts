import pg from 'pg';
import { inject } from 'vitest';
import { migrate } from '../src/platform/db/migrate.ts';
import { createDatabase, dropDatabase, onServer, readOwnSchema } from './databases.ts';

/** Runs `use` with a database as it was before the migration of this name, and with what migrates it to today's. */
export async function withDatabaseBefore(
  migration: string,
  use: (client: pg.Client, migrateIt: () => Promise<unknown>) => Promise<void>,
) {
  const postgresUrl = inject('postgresUrl');
  const database = await createDatabase(postgresUrl);
  const connection = { connectionString: onServer(postgresUrl, database) };
  const client = new pg.Client(connection);
  try {
    const schema = await readOwnSchema();
    const ours = schema.migrations.findIndex(({ name }) => name === migration);
    await migrate(connection, { ...schema, migrations: schema.migrations.slice(0, ours), functions: [] });
    await client.connect();
    await use(client, () => migrate(connection, schema));
  } finally {
    await client.end();
    await dropDatabase(postgresUrl, database);
  }
}
