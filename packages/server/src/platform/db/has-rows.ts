import type { Queryable } from './database.ts';
import { type Sql, sql } from './sql.ts';

/** Whether the query finds anything. It stops at the first row. */
export const hasRows = async (db: Queryable, rows: Sql): Promise<boolean> =>
  (await db.one<{ has: boolean }>(sql`select exists (${rows}) as has`)).has;
