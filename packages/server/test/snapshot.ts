/** Everything that the database holds, to be compared before and after what must change nothing. */
import type pg from 'pg';

/** Written beside requests, whatever they do: when a key was used, and the ticks of the job queue. */
const UNCOUNTED_COLUMNS: Record<string, string[]> = { api_keys: ['last_used_at'] };
const UNCOUNTED_TABLES = ['jobs', 'job_schedules'];

/** The rows of each table, as JSON, sorted. */
export type Snapshot = Record<string, string[]>;

export async function snapshot(pool: pg.Pool): Promise<Snapshot> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> all($1) order by 1`,
    [UNCOUNTED_TABLES],
  );
  const taken: Snapshot = {};
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(
      `select (to_jsonb(t) - $1::text[])::text as row from "${name}" t order by 1`,
      [UNCOUNTED_COLUMNS[name] ?? []],
    );
    taken[name] = rows.map(({ row }) => row);
  }
  return taken;
}
