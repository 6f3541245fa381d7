import type { Queryable } from './database.ts';
import { sql } from './sql.ts';

/** Tells a database from all others, whatever address leads to it. */
export interface DatabaseIdentity {
  /** PostgreSQL makes it up when a cluster is created. */
  systemIdentifier: string;
  database: string;
}

export const readIdentity = (db: Queryable) =>
  db.one<DatabaseIdentity>(sql`
    select system_identifier::text as "systemIdentifier", current_database()::text as database
    from pg_control_system()`);
