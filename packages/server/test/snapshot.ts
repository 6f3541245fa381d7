/** Reads the whole content of a database, for a later comparison. */
import type pg from 'pg';

/** The server writes to these tables from time to time, independently of requests. */
const IGNORED_COLUMNS: Record<string, string> = { api_keys: 'last_used_at' };
const IGNORED_TABLES = [
  'jobs',
  'job_schedules',
  'audit_log_chain',
  'audit_log_seals',
  'server_processes',
  'builds',
  'deployment_log_lines',
  'usage_counters',
  'usage_viewers',
];

/** Every table with its rows, sorted, as they are at one moment. */
export async function snapshot(
  pool: pg.Pool,
  options: { except?: string[] } = {},
): Promise<Record<string, unknown[]>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> all($1)
     order by 1`,
    [[...IGNORED_TABLES, ...(options.except ?? [])]],
  );
  const columns = tables.map(({ name }) => {
    const row = `to_jsonb(t) - '${IGNORED_COLUMNS[name] ?? ''}'`;
    return `(select coalesce(json_agg(${row} order by (${row})::text collate "C"), '[]') from "${name}" t) as "${name}"`;
  });
  return (await pool.query(`select ${columns.join(', ')}`)).rows[0];
}
