/** Checks that the database accepts writes. With a full disk, or after it became read-only, it still answers reads. */
import type { Database } from './database.ts';
import { sql } from './sql.ts';

/** Within this time, the last result is returned again, because load balancers may ask many times a second. */
const GOOD_FOR_MS = 10_000;
const BAD_FOR_MS = 1000;

/**
 * The row fills a page of its own, so the disk must have room for it. Old rows are deleted after the insert and not
 * before, because reading them first would free their pages for the new row. Vacuum frees the pages later.
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

  // While a probe runs, all callers wait for the same one, so that it uses one connection only.
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
