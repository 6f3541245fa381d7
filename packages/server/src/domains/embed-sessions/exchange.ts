import type { Database } from '../../platform/db/database.ts';
import { gather } from '../../platform/gather.ts';
import { exchangeSessions, type GivenSession } from './store.ts';

/** While the database works on one, the next one travels. More would only make smaller batches. */
const TOGETHER = { atOnce: 2, size: 100 };

/** Answers the session once, and nothing where it can not be exchanged. */
export function createExchange(db: Database) {
  const exchange = async (given: GivenSession[], waits: boolean) => {
    const rows = new Map((await exchangeSessions(db.writes, given, waits)).map(({ n, ...row }) => [n, row]));
    return given.map((_, i) => rows.get(i + 1));
  };
  const exchangeTogether = gather((given: GivenSession[]) => exchange(given, false), TOGETHER);
  return async (given: GivenSession) =>
    // Alone, it waits for whoever may hold the session, and the answer is for good.
    (await exchangeTogether(given)) ?? (await exchange([given], true))[0];
}
