import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
  deployment: {
    removeOf: [
      (db, deploymentId, rows) =>
        db.run(sql`
          delete from environment_tokens where id = any(array(
            select id from environment_tokens where deployment_id = ${deploymentId} limit ${rows}))`),
    ],
  },
};
