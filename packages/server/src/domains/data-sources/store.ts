import type { Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

export const isDemo = async (db: Queryable, deploymentId: number) =>
  (
    await db.one<{ isDemo: boolean }>(sql`
      select exists (select from deployments where id = ${deploymentId} and is_demo) as "isDemo"`)
  ).isDemo;
