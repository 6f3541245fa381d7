import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
  deployment: {
    removeOf: [
      (db, deploymentId) =>
        db.writes.run(sql`delete from git_connections where deployment_id = ${deploymentId}`),
      (db, deploymentId) =>
        db.writes.run(sql`delete from git_former_connections where deployment_id = ${deploymentId}`),
    ],
  },
};
