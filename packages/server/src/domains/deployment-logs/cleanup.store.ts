import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
  deployment: {
    removeOf: [
      (db, deploymentId, rows) =>
        db.writes.run(sql`
          delete from deployment_log_lines
          where id = any(array(
            select id from deployment_log_lines where deployment_id = ${deploymentId} limit ${rows}))`),
    ],
  },
};
