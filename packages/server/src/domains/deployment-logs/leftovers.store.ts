import { sql } from '../../platform/db/sql.ts';
import type { Leftovers } from '../../platform/leftovers.ts';

export const leftovers: Leftovers = {
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
