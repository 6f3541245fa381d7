import type { Cleanup } from '../../platform/cleanup.ts';
import type { Database } from '../../platform/db/database.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

const removeWhere = (db: Database, condition: Sql, rows: number) =>
  db.writes.run(sql`
    delete from slow_queries where id = any(array(select id from slow_queries where ${condition} limit ${rows}))`);

/** Slow queries are deleted with their user, deployment or embed tenant, because they may hold values of these. */
export const cleanup: Cleanup = {
  user: { removeOf: [(db, userId, rows) => removeWhere(db, sql`user_id = ${userId}`, rows)] },
  deployment: {
    removeOf: [(db, deploymentId, rows) => removeWhere(db, sql`deployment_id = ${deploymentId}`, rows)],
  },
  embedTenant: { removeOf: [(db, { name }, rows) => removeWhere(db, sql`embed_tenant = ${name}`, rows)] },
};
