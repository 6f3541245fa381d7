import type { Database } from '../../platform/db/database.ts';
import { gather } from '../../platform/gather.ts';
import { exchangeSessions, type GivenSession } from './store.ts';

/** While the database works on one, the next one travels. More would only make smaller batches. */
const TOGETHER = { atOnce: 2, size: 100 };

/** Answers the session once, and nothing where it can not be exchanged. */
export function createExchange(db: Database) {
  /** Nothing also for a session that somebody else holds. */
  const exchangeTogether = gather(async (given: GivenSession[]) => {
    const exchanged = new Map((await exchangeSessions(db, given, false)).map(({ n, ...row }) => [n, row]));
    return given.map((_, i) => exchanged.get(i + 1));
  }, TOGETHER);

  /** Waits for whoever holds the session, and answers for good. */
  async function exchangeAlone(given: GivenSession) {
    const [exchanged] = await exchangeSessions(db, [given], true);
    if (!exchanged) return undefined;
    const { n: _n, ...row } = exchanged;
    return row;
  }

  return async (given: GivenSession) => (await exchangeTogether(given)) ?? exchangeAlone(given);
}
