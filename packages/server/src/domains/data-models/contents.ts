/** The contents of files, read in batches, so that a large data model is never in memory twice. */
import type { Queryable } from '../../platform/db/database.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import type { Hash } from '../../platform/git/objects.ts';
import { isText } from './paths.ts';

/** How many files are read by one statement. */
const BATCH = 200;

export interface Content {
  content: string;
  /** For a file that is not text in UTF-8. */
  encoding?: 'base64';
}

const shown = (content: Buffer): Content =>
  isText(content)
    ? { content: content.toString('utf8') }
    : { content: content.toString('base64'), encoding: 'base64' };

/** The content of each file. */
export async function readContents(
  db: Queryable,
  deploymentId: number,
  files: Iterable<readonly [path: string, blob: Hash]>,
): Promise<Map<string, Content>> {
  const objects = createObjects(db, deploymentId);
  const all = [...files];
  const contents = new Map<string, Content>();
  for (let at = 0; at < all.length; at += BATCH) {
    const batch = all.slice(at, at + BATCH);
    const found = await objects.read([...new Set(batch.map(([, blob]) => blob))]);
    for (const [path, blob] of batch) contents.set(path, shown(found.get(blob)!.content));
  }
  return contents;
}
