/** Deletes what no branch needs any more: files of abandoned edits and uploads, commits of deleted branches. */
import type { Database } from '../db/database.ts';
import { createObjects } from './objects.store.ts';
import { findReachable, type Roots } from './reachable.ts';
import { deleteOldObjects, listOldObjects } from './sweep.store.ts';

const BATCH_ROWS = 500;

/**
 * Keeps everything that the roots need, and everything that was written in the last hour. `roots` must be all of the
 * repository. A change that makes a new root of an old one, such as a new branch, must lock the row of the old root:
 * otherwise both could be missing here.
 */
export async function sweepObjects(
  db: Database,
  repositoryId: number,
  roots: Roots,
  signal: AbortSignal,
): Promise<number> {
  const { commits, trees, blobs } = await findReachable(createObjects(db, repositoryId), roots);
  const isNeeded = (hash: string) => commits.has(hash) || trees.has(hash) || blobs.has(hash);
  let deleted = 0;
  for (let after = ''; !signal.aborted; ) {
    const old = await listOldObjects(db, repositoryId, after, BATCH_ROWS);
    if (!old.length) break;
    after = old.at(-1)!;
    const unneeded = old.filter((hash) => !isNeeded(hash));
    if (unneeded.length) deleted += await deleteOldObjects(db.writes, repositoryId, unneeded);
  }
  return deleted;
}
