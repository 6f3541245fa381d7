import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
  embedTenant: {
    removeOf: [
      // Values come first, because an attribute may have very many, which would all be deleted with it.
      (db, { hiddenName }, rows) =>
        db.run(sql`
          delete from user_attribute_values where (user_id, attribute_id) in (
            select v.user_id, v.attribute_id from user_attributes a join user_attribute_values v on v.attribute_id = a.id
            where coalesce(a.embed_tenant, '') = ${hiddenName} limit ${rows})`),
      (db, { hiddenName }, rows) =>
        db.run(sql`
          delete from user_attributes where id = any(array(
            select id from user_attributes where coalesce(embed_tenant, '') = ${hiddenName} limit ${rows}))`),
    ],
  },
};
