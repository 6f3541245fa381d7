import { sql } from '../../platform/db/sql.ts';
import type { Leftovers } from '../../platform/leftovers.ts';

export const leftovers: Leftovers = {
  deployment: {
    removeOf: [
      (db, deploymentId, rows) =>
        db.writes.run(sql`
          delete from model_syncs where id = any(array(
            select id from model_syncs where deployment_id = ${deploymentId} limit ${rows}))`),
      (db, deploymentId) =>
        db.writes.run(sql`delete from model_sync_manifests where deployment_id = ${deploymentId}`),
      (db, deploymentId) =>
        db.writes.run(sql`delete from model_sync_sources where deployment_id = ${deploymentId}`),
    ],
  },
};
