import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
  user: {
    endAccess: (tx, userId) => tx.run(sql`delete from dev_modes where user_id = ${userId}`),
  },
  deployment: {
    removeOf: [
      (db, deploymentId, rows) =>
        db.writes.run(sql`
          delete from branches
          where id = any(array(select id from branches where deployment_id = ${deploymentId} limit ${rows}))`),
      (db, deploymentId) => db.writes.run(sql`delete from data_models where deployment_id = ${deploymentId}`),
    ],
  },
};
