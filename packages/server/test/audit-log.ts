/** Entries of the audit log for tests: written behind the API, sealed and verified at once. */

import { CHAIN_KEY, sealEntries } from '../src/platform/audit/seal.ts';
import { verifyAuditLog } from '../src/platform/audit/verify.ts';
import { createBox } from '../src/platform/secrets/box.ts';
import { createKeyring } from '../src/platform/secrets/keyring.ts';
import { SECRET_KEY, type World } from './world.ts';

const box = createBox(CHAIN_KEY, createKeyring([SECRET_KEY]));

export const auditLogOf = ({ server: { db } }: World) => {
  const seal = () => sealEntries(db, box, new AbortController().signal);
  const verify = (expected?: string) => verifyAuditLog(db, box, expected);
  return {
    box,
    query: async (text: string, values: unknown[] = []) => (await db.pool.query(text, values)).rows,
    /** Entries of this operation, that many days old. Returns their ids. */
    insert: async (
      operation: string,
      { daysAgo = 0, count = 1, resourceId = '1' } = {},
    ): Promise<number[]> => {
      const { rows } = await db.pool.query(
        `insert into audit_log (created_at, operation, resource_type, resource_id)
       select now() - $2 * interval '1 day', $1, 'test', $4 from generate_series(1, $3) returning id`,
        [operation, daysAgo, count, resourceId],
      );
      return rows.map(({ id }) => id);
    },
    seal,
    /** Transactions of other tests on the same database server can make sealing wait. */
    async sealAll() {
      do await seal();
      while ((await verify()).unsealed > 0);
    },
    verify,
  };
};
