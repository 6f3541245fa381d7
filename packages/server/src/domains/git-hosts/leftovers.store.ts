import { sql } from '../../platform/db/sql.ts';
import type { Leftovers } from '../../platform/leftovers.ts';

export const leftovers: Leftovers = {
  deployment: {
    removeOf: [
      (db, deploymentId) =>
        db.writes.run(sql`delete from git_connections where deployment_id = ${deploymentId}`),
    ],
  },
};
