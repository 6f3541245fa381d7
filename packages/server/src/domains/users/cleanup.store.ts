import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
  embedTenant: {
    removeOf: [
      (db, { hiddenName }, rows) =>
        db.run(sql`
          delete from users where id = any(array(
            select id from users where embed_tenant = ${hiddenName} limit ${rows}))`),
    ],
  },
};
