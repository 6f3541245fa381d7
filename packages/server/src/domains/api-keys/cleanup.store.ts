import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
  user: {
    endAccess: (tx, userId) => tx.run(sql`delete from api_keys where user_id = ${userId}`),
  },
};
