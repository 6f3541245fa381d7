/** The files that both sides of a merge changed. */
import type { MergedFile, Outcome, ThreeTexts } from './merge-files.ts';
import type { ConflictHunk } from './merge-texts.ts';
import type { Hash, Objects } from './objects.ts';
import { batchesBySize, type TextWork } from './text-work.ts';

export interface Conflict {
  path: string;
  kind: 'content' | 'added_by_both' | 'deleted_by_ours' | 'deleted_by_theirs' | 'file_and_directory';
  /** Empty if there are no texts to compare, as for deleted and binary files. */
  hunks: ConflictHunk[];
}

/** Three versions of a file. The base is null if both sides added it. */
export interface ContentMerge {
  path: string;
  base: Hash | null;
  ours: Hash;
  theirs: Hash;
  /** Whether it is a conflict whatever the texts are, because the modes cannot be merged. */
  isConflict: boolean;
  merged?: MergedFile;
}

/** The list of conflicts goes into a reply, so it may have this many characters. */
const CONFLICTS_LENGTH_MAX = 512 * 1024;

export async function mergeContents(
  objects: Objects,
  merges: readonly ContentMerge[],
  { outcome, texts }: { outcome: Outcome; texts: TextWork },
): Promise<Conflict[]> {
  const conflicts: Conflict[] = [];
  let room = CONFLICTS_LENGTH_MAX;
  const sizes = await objects.sizes(merges.flatMap(blobsOf));
  const sizeOf = (merge: ContentMerge) => blobsOf(merge).reduce((sum, blob) => sum + sizes.get(blob)!, 0);
  for (const { items, bytes } of batchesBySize(merges, sizeOf)) {
    const answer = await texts.run(bytes, async () => ({
      kind: 'merge',
      files: await readTexts(objects, items),
      outcome,
      room,
    }));
    room = answer.room;
    for (const [i, merge] of items.entries()) {
      merge.merged = answer.files[i]!;
      const { isClean, hunks } = merge.merged;
      if ((isClean && !merge.isConflict) || outcome === 'ours') continue;
      const kind = merge.base === null ? 'added_by_both' : 'content';
      conflicts.push({ path: merge.path, kind, hunks });
    }
  }
  return conflicts;
}

const blobsOf = ({ base, ours, theirs }: ContentMerge): Hash[] =>
  base === null ? [ours, theirs] : [base, ours, theirs];

async function readTexts(objects: Objects, merges: readonly ContentMerge[]): Promise<ThreeTexts[]> {
  const found = await objects.read([...new Set(merges.flatMap(blobsOf))]);
  const contentOf = (hash: Hash) => found.get(hash)!.content;
  return merges.map(({ base, ours, theirs }) => ({
    base: base === null ? new Uint8Array() : contentOf(base),
    ours: contentOf(ours),
    theirs: contentOf(theirs),
  }));
}
