import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
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
