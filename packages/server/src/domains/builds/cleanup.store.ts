import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
  deployment: {
    removeOf: [
      (db, deploymentId, rows) =>
        db.writes.run(sql`
          delete from builds
          where id = any(array(select id from builds where deployment_id = ${deploymentId} limit ${rows}))`),
    ],
  },
};
