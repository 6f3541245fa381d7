import { sql } from '../../platform/db/sql.ts';
import type { Leftovers } from '../../platform/leftovers.ts';

export const leftovers: Leftovers = {
  deployment: {
    removeOf: [
      (db, deploymentId, rows) =>
        db.run(sql`
          delete from environment_tokens where id = any(array(
            select id from environment_tokens where deployment_id = ${deploymentId} limit ${rows}))`),
    ],
  },
};
