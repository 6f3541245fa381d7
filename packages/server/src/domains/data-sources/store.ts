import type { Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

/** Whether the first deployment is that of the demo. */
export const hasDemo = async (db: Queryable) =>
  (
    await db.one<{ hasDemo: boolean }>(sql`
      select exists (select from installation where demo_seeded_at is not null) as "hasDemo"`)
  ).hasDemo;
