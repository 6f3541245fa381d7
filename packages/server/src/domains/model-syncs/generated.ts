/**
 * Generated files as commits of their own, which branches merge. So git's own base of a merge is what was generated last
 * for this branch, wherever it was merged or branched since, and people's changes are told apart from dbt's.
 */
import type { DbtFile } from '@oriel/semantic';
import { readCommit, writeCommit } from '../../platform/git/commits.ts';
import { mergeBase } from '../../platform/git/merge-bases.ts';
import { type Conflict, mergeTreesWithMarkers } from '../../platform/git/merge-trees.ts';
import { blobOf, type Hash, type Objects } from '../../platform/git/objects.ts';
import type { TextWork } from '../../platform/git/text-work.ts';
import { EMPTY_TREE, editTree, listTree } from '../../platform/git/trees.ts';
import { type Author, type BranchRow, treeOfCommit } from '../data-models/index.ts';
import type { SyncConflict } from './store.ts';

/** Writes a commit with nothing but these files. If they are the same as before, it is the same commit. */
export async function writeGenerated(
  objects: Objects,
  files: readonly DbtFile[],
  previous: Hash | null,
  author: Author,
): Promise<Hash> {
  const hashes = await objects.write(files.map(({ text }) => blobOf(text)));
  const edits = new Map(files.map(({ path }, i) => [path, hashes[i]!]));
  const tree = await editTree(objects, EMPTY_TREE, edits);
  if (previous !== null && (await treeOfCommit(objects, previous)) === tree) return previous;
  return writeCommit(objects, {
    tree,
    parents: previous === null ? [] : [previous],
    author: { ...author, at: new Date() },
    message: 'Generate cubes from dbt',
  });
}

export interface GeneratedMerge {
  tree: Hash;
  changed: string[];
  removed: string[];
  conflicts: SyncConflict[];
  before: ReadonlyMap<string, Hash>;
  after: ReadonlyMap<string, Hash>;
}

const MARKERS = { theirs: 'dbt', size: 7, isVirtual: false };

/** Merges generated files into a branch. Returns nothing if the branch has them already. */
export async function mergeGenerated(
  objects: Objects,
  branch: BranchRow,
  generated: Hash,
  texts: TextWork,
): Promise<GeneratedMerge | undefined> {
  const [ours, theirs] = [await treeOfCommit(objects, branch.head), await treeOfCommit(objects, generated)];
  const common = await mergeBase(objects, branch.head, generated);
  if (common === generated) return undefined;
  const base = await baseFor(objects, ours, generated, common);
  const markers = { ...MARKERS, ours: branch.name };
  const merged = await mergeTreesWithMarkers(objects, { base, ours, theirs }, markers, texts);
  // People may have deleted these files on purpose, so they stay deleted.
  const deleted = merged.conflicts.filter(({ kind }) => kind === 'deleted_by_ours').map(({ path }) => path);
  const tree = deleted.length
    ? await editTree(objects, merged.tree, new Map(deleted.map((path) => [path, null])))
    : merged.tree;
  const [before, after] = [await listTree(objects, ours), await listTree(objects, tree)];
  return {
    tree,
    before,
    after,
    changed: [...after].filter(([path, hash]) => before.get(path) !== hash).map(([path]) => path),
    removed: [...before.keys()].filter((path) => !after.has(path)),
    conflicts: merged.conflicts.map(shown),
  };
}

/** How many generated commits are looked at. */
const CANDIDATES_MAX = 20;

/**
 * The base of the merge is the merge base of the branch and the generated commit, as in git. But after a squashed merge
 * a branch has files that were generated later, without their commits: then the base is the generated commit with the
 * most files in common.
 */
async function baseFor(objects: Objects, ours: Hash, generated: Hash, common: Hash | null): Promise<Hash> {
  const files = await listTree(objects, ours);
  const countSame = async (tree: Hash) => {
    let same = 0;
    for (const [path, hash] of await listTree(objects, tree)) if (files.get(path) === hash) same++;
    return same;
  };
  const start = common === null ? EMPTY_TREE : await treeOfCommit(objects, common);
  let best = { tree: start, same: await countSame(start) };
  let next: Hash | undefined = generated;
  for (let i = 0; i < CANDIDATES_MAX && next !== undefined && next !== common; i++) {
    const { tree, parents }: { tree: Hash; parents: Hash[] } = await readCommit(objects, next);
    const same = await countSame(tree);
    if (same > best.same) best = { tree, same };
    next = parents[0];
  }
  return best.tree;
}

const WORDS: Record<SyncConflict['kind'], string> = {
  marked:
    'People and dbt changed the same lines. Both are in the file, between markers: choose, and remove the markers.',
  kept: 'dbt does not have this any more, but people changed the file, so it stays. Delete it if it is not needed.',
  kept_deleted: 'The file was deleted here and changed in dbt, so it was not made again.',
};

function shown({ path, kind }: Conflict): SyncConflict {
  const what = kind === 'deleted_by_theirs' ? 'kept' : kind === 'deleted_by_ours' ? 'kept_deleted' : 'marked';
  return { path, kind: what, message: WORDS[what] };
}
