import type { Cleanup } from '../../platform/cleanup.ts';
import { sql } from '../../platform/db/sql.ts';

export const cleanup: Cleanup = {
  user: {
    /** The schedule of the revocations tells the services. */
    endAccess: (tx, userId) =>
      tx.run(
        sql`update oauth_tokens set revoked_at = now() where user_id = ${userId} and revoked_at is null`,
      ),
  },
};
