/** The minting statement, taken from the server's own code, so that it is always the one that the server sends. */
import { insertSession } from '../../packages/server/src/domains/embed-sessions/store.ts';
import type { Queryable } from '../../packages/server/src/platform/db/database.ts';
import type { Sql } from '../../packages/server/src/platform/db/sql.ts';

function recorded(send: (db: Queryable) => Promise<unknown>): string {
  let text = '';
  const record = async (query: Sql) => {
    text = query.text;
    return { result: 0 };
  };
  void send({ one: record, many: record } as unknown as Queryable);
  return text.replaceAll(/\s+/g, ' ');
}

const NOTHING = Buffer.alloc(0);
const nobody = { userId: 0, apiKeyId: 0, embedTenantName: '', ip: '', requestId: '' };

const mintStatement = recorded((db) =>
  insertSession(db, { request: {}, secretHash: NOTHING, maxExternalUsers: 0, origin: nobody }),
);

/** Replaces each value with an expression of pgbench's language. */
export const mintSql = (
  ...values: [request: string, hash: string, limit: string, origin: string, dryRun: string]
) => mintStatement.replaceAll(/\$(\d+)/g, (_, n) => `(${values[Number(n) - 1]})`);
