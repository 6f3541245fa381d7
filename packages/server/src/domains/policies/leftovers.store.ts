import { sql } from '../../platform/db/sql.ts';
import type { Leftovers } from '../../platform/leftovers.ts';

/** A trigger deletes the policies on a resource together with the resource. */
export const leftovers: Leftovers = {
  user: {
    endAccess: (tx, userId) => tx.run(sql`delete from resource_policies where user_id = ${userId}`),
  },
  folder: {
    hideOnly: (tx, folderId) =>
      tx.run(sql`delete from resource_policies where resource_type = 'Folder' and resource_id = ${folderId}`),
  },
};
