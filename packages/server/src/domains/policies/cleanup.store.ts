import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

/** A trigger deletes the policies on a resource together with the resource. */
export const cleanup: Cleanup = {
  user: {
    endAccess: (tx, userId) => tx.run(sql`delete from resource_policies where user_id = ${userId}`),
  },
  folder: {
    hideOnly: (tx, folderId) =>
      tx.run(sql`delete from resource_policies where resource_type = 'Folder' and resource_id = ${folderId}`),
  },
};
