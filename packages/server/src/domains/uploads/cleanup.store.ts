import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
  deployment: {
    removeOf: [
      (db, deploymentId, rows) =>
        db.writes.run(sql`
          delete from upload_files f
          using (select f.upload_id, f.path from uploads u join upload_files f on f.upload_id = u.id
                 where u.deployment_id = ${deploymentId} limit ${rows}) gone
          where f.upload_id = gone.upload_id and f.path = gone.path`),
      (db, deploymentId, rows) =>
        db.writes.run(sql`
          delete from uploads
          where id = any(array(select id from uploads where deployment_id = ${deploymentId} limit ${rows}))`),
    ],
  },
};
