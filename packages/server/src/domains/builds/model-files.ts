/** Reads the files that a compilation needs. A tree may also hold many others. */
import { isModelFile, MODEL_CHARACTERS_MAX } from '@oriel/semantic';
import type { Queryable } from '../../platform/db/database.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { listTree } from '../../platform/git/trees.ts';

/** How many files are read by one statement; a file has at most 1 MB. */
const BATCH = 50;

const YAML = /\.ya?ml$/i;

/**
 * Returns the texts of the model's files, and the paths of all others with an empty text. Stops soon after the model is
 * too large, which the compiler then reports.
 */
export async function readModelFiles(
  db: Queryable,
  deploymentId: number,
  tree: string,
): Promise<Map<string, string>> {
  const objects = createObjects(db, deploymentId);
  const files = new Map<string, string>();
  const unread: [string, string][] = [];
  for (const [path, blob] of await listTree(objects, tree)) {
    if (YAML.test(path)) unread.push([path, blob]);
    else files.set(path, '');
  }
  let characters = 0;
  for (let at = 0; at < unread.length && characters <= MODEL_CHARACTERS_MAX; at += BATCH) {
    const batch = unread.slice(at, at + BATCH);
    const contents = await objects.read([...new Set(batch.map(([, blob]) => blob))]);
    for (const [path, blob] of batch) {
      // A repository may bring a file that is no text. The compiler then says what is wrong with it.
      const text = contents.get(blob)!.content.toString('utf8').replaceAll('\0', '\ufffd');
      if (!isModelFile(path, text)) continue;
      files.set(path, text);
      characters += text.length;
    }
  }
  return files;
}
