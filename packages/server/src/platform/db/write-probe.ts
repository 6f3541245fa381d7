/** Whether the database takes writes. A full disk or a server that became read-only still answers questions. */
import type { Database } from './database.ts';
import { sql } from './sql.ts';

/** Asked more often, the last result is told again: balancers of many servers may ask many times a second. */
const GOOD_FOR_MS = 10_000;
const BAD_FOR_MS = 1000;

/**
 * Fills a page of its own, which the disk must have room for. It is deleted after and not before: looking for old rows
 * first would make room for the new one in their pages. Vacuum gives the pages back.
 */
const WRITE = sql`insert into write_probes (filler) values (repeat('x', 8000))`;
const CLEAR = sql`delete from write_probes`;

export type WriteProbe = () => Promise<void>;

export function createWriteProbe(db: Database, now: () => number = () => Date.now()): WriteProbe {
  let last: { result: Promise<void>; until: number } | undefined;

  async function write() {
    await db.run(WRITE);
    await db.run(CLEAR);
  }

  // While it is under way, everybody waits for the same one: it holds one connection, however many ask.
  return () => {
    if (!last || now() >= last.until) {
      const probe = { result: write(), until: Number.POSITIVE_INFINITY };
      last = probe;
      const keepFor = (ms: number) => () => {
        probe.until = now() + ms;
      };
      probe.result.then(keepFor(GOOD_FOR_MS), keepFor(BAD_FOR_MS));
    }
    return last.result;
  };
}
