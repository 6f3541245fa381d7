import { sql } from '../../platform/db/sql.ts';
import type { Leftovers } from '../../platform/leftovers.ts';

export const leftovers: Leftovers = {
  embedTenant: {
    removeOf: [
      (db, { hiddenName }, rows) =>
        db.run(sql`
          delete from users where id = any(array(
            select id from users where embed_tenant = ${hiddenName} limit ${rows}))`),
    ],
  },
};
