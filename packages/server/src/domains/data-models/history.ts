/** What a commit changed, within limits, for people to read. */
import type { operations, ReplyOf } from '@oriel/contract';
import { type Commit, readCommit } from '../../platform/git/commits.ts';
import { diffTrees, type FileChange } from '../../platform/git/diff-trees.ts';
import { type Hash, MissingObjectError, type Objects } from '../../platform/git/objects.ts';
import { batchesBySize, type TextWork } from '../../platform/git/text-work.ts';
import { EMPTY_TREE } from '../../platform/git/trees.ts';
import { treeOfCommit } from './trees.ts';

type FileDiff = ReplyOf<typeof operations.getCommit>['files'][number];

const FILES_MAX = 300;
/** The lines of all files together, in characters. */
const TEXT_MAX = 1024 * 1024;
/** Both versions of all files that are compared. Files beyond it are listed without lines. */
const COMPARED_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Returns a commit with its changes. A commit of a deleted branch is gone as soon as something that it needs is: older
 * objects are swept first.
 */
export async function findCommit(objects: Objects, hash: string, texts: TextWork) {
  if (!/^[0-9a-f]{40}$/.test(hash)) return undefined;
  try {
    const commit = await readCommit(objects, hash);
    return { commit, changes: await changesOf(objects, commit, texts) };
  } catch (error) {
    if (error instanceof MissingObjectError) return undefined;
    throw error;
  }
}

/** The changes since the first parent. */
async function changesOf(objects: Objects, { parents, tree }: Commit, texts: TextWork) {
  const base = parents[0] === undefined ? EMPTY_TREE : await treeOfCommit(objects, parents[0]);
  const changed = await diffTrees(objects, base, tree);
  const listed = changed.slice(0, FILES_MAX);
  const sizes = await objects.sizes(listed.flatMap(blobsOf));
  const sizeOf = (change: FileChange) => blobsOf(change).reduce((sum, blob) => sum + sizes.get(blob)!, 0);
  const files: FileDiff[] = [];
  let room = TEXT_MAX;
  let compared = 0;
  for (const { items, bytes } of batchesBySize(listed, sizeOf)) {
    compared += bytes;
    const isCompared = room > 0 && compared <= COMPARED_BYTES_MAX;
    const answer = isCompared
      ? await texts.run(bytes, async () => ({ kind: 'diff', files: await readTexts(objects, items), room }))
      : undefined;
    if (answer) room = answer.room;
    for (const [i, { path, before, after }] of items.entries()) {
      const status = before === null ? 'added' : after === null ? 'deleted' : 'modified';
      files.push({ path, status, ...(answer?.files[i] ?? { hunks: [], isShortened: true }) });
    }
  }
  return { filesChanged: changed.length, files };
}

const blobsOf = ({ before, after }: FileChange): Hash[] => [before, after].filter((hash) => hash !== null);

async function readTexts(objects: Objects, changes: readonly FileChange[]) {
  const found = await objects.read([...new Set(changes.flatMap(blobsOf))]);
  const contentOf = (hash: Hash | null) => (hash === null ? new Uint8Array() : found.get(hash)!.content);
  return changes.map(({ before, after }) => ({ before: contentOf(before), after: contentOf(after) }));
}
