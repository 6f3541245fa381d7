import { batchCalls } from '../../platform/batch-calls.ts';
import type { Database } from '../../platform/db/database.ts';
import { exchangeSessions, type SessionCredential } from './store.ts';

/** Two batches: while the database works on one, the other is on its way. More would only make each batch smaller. */
const TOGETHER = { atOnce: 2, size: 100 };

/** The returned function returns each session only once, and nothing if the session cannot be exchanged. */
export function createExchange(db: Database) {
  const exchange = async (given: SessionCredential[], waits: boolean) => {
    const rows = new Map((await exchangeSessions(db.writes, given, waits)).map(({ n, ...row }) => [n, row]));
    return given.map((_, i) => rows.get(i + 1));
  };
  const exchangeTogether = batchCalls((given: SessionCredential[]) => exchange(given, false), TOGETHER);
  return async (given: SessionCredential) =>
    // The second call is for this session alone. It waits for a call that may hold the session, so its result is final.
    (await exchangeTogether(given)) ?? (await exchange([given], true))[0];
}
