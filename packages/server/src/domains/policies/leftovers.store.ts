import { sql } from '../../platform/db/sql.ts';
import type { Leftovers } from '../../platform/leftovers.ts';

/** Policies on a resource are deleted with it, by a trigger. */
export const leftovers: Leftovers = {
  user: {
    endAccess: (tx, userId) => tx.run(sql`delete from resource_policies where user_id = ${userId}`),
  },
  folder: {
    hideOnly: (tx, folderId) =>
      tx.run(sql`delete from resource_policies where resource_type = 'Folder' and resource_id = ${folderId}`),
  },
};
