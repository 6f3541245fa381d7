import { sql } from '../../platform/db/sql.ts';
import type { Leftovers } from '../../platform/leftovers.ts';

export const leftovers: Leftovers = {
  user: {
    endAccess: (tx, userId) => tx.run(sql`delete from api_keys where user_id = ${userId}`),
  },
};
