import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
  user: {
    endAccess: (tx, userId) => tx.run(sql`delete from user_group_members where user_id = ${userId}`),
  },
  embedTenant: {
    removeOf: [
      // Members come first, because a group may have very many, which would all be deleted with it.
      (db, { hiddenName }, rows) =>
        db.run(sql`
          delete from user_group_members where (group_id, user_id) in (
            select m.group_id, m.user_id from user_groups g join user_group_members m on m.group_id = g.id
            where coalesce(g.embed_tenant, '') = ${hiddenName} limit ${rows})`),
      (db, { hiddenName }, rows) =>
        db.run(sql`
          delete from user_groups where id = any(array(
            select id from user_groups where coalesce(embed_tenant, '') = ${hiddenName} limit ${rows}))`),
    ],
  },
};
