import type { Cleanup } from '../cleanup.ts';
import { hasRows } from '../db/has-rows.ts';
import { sql } from '../db/sql.ts';

export const cleanup: Cleanup = {
  deployment: {
    removeOf: [
      (db, deploymentId, rows) =>
        db.run(sql`
          delete from git_objects where deployment_id = ${deploymentId} and hash = any(array(
            select hash from git_objects where deployment_id = ${deploymentId} order by hash limit ${rows}))`),
    ],
    isLeft: (db, deploymentId) =>
      hasRows(db, sql`select from git_objects where deployment_id = ${deploymentId}`),
  },
};
