/** The contents of files, read in batches, so that a large data model is never in memory twice. */
import type { Queryable } from '../../platform/db/database.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import type { Hash } from '../../platform/git/objects.ts';

/** How many files are read by one statement. */
const BATCH = 200;

/** The text of each file. */
export async function readContents(
  db: Queryable,
  deploymentId: number,
  files: Iterable<readonly [path: string, blob: Hash]>,
): Promise<Map<string, string>> {
  const objects = createObjects(db, deploymentId);
  const all = [...files];
  const texts = new Map<string, string>();
  for (let at = 0; at < all.length; at += BATCH) {
    const batch = all.slice(at, at + BATCH);
    const found = await objects.read([...new Set(batch.map(([, blob]) => blob))]);
    for (const [path, blob] of batch) texts.set(path, found.get(blob)!.content.toString('utf8'));
  }
  return texts;
}
