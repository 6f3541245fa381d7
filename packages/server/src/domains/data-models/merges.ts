/** Merges of branches. A merge is computed without a lock, and put in place if both branches are still the same. */
import type { Change, ChangeFunction } from '../../platform/audit/change.ts';
import type { Database, Tx } from '../../platform/db/database.ts';
import { ApiError, isApiError } from '../../platform/errors.ts';
import { writeCommit } from '../../platform/git/commits.ts';
import { mergeBase } from '../../platform/git/merge-bases.ts';
import { mergeCommits } from '../../platform/git/merge-commits.ts';
import type { MergeOptions as GitMergeOptions } from '../../platform/git/merge-trees.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import type { Hash, Objects } from '../../platform/git/objects.ts';
import type { Texts } from '../../platform/git/text-work.ts';
import { listTree } from '../../platform/git/trees.ts';
import { WorkLimitError } from '../../platform/git/work.ts';
import { type Author, messageOf } from './authors.ts';
import type { BranchLock } from './branch-lock.ts';
import { type BranchScope, requireBranch, uncommitted } from './branches.ts';
import { mergeConflict } from './conflicts.ts';
import type { BranchRow } from './store.ts';
import * as store from './store.ts';
import { currentTree, requireWithinLimits, treeOfCommit, visibleTree } from './trees.ts';

export interface MergeOptions {
  texts: Texts;
  signal: AbortSignal;
  author: Author;
  message?: string | null | undefined;
  /** One commit with one parent. */
  isSquashed?: boolean;
}

/**
 * Returns the commit that the target gets, or nothing if it has all commits of the source already. Neither may have
 * uncommitted changes. As in git, a target without commits of its own moves to the newest commit of the source, unless
 * a message asks for a merge commit.
 */
export async function computeMerge(
  db: Database,
  source: BranchRow,
  target: BranchRow,
  { author, message, isSquashed = false, ...how }: MergeOptions,
): Promise<Hash | undefined> {
  for (const branch of [source, target]) {
    const { workingTree, isDeploy } = branch;
    if (workingTree === null || isDeploy) continue;
    throw uncommitted(branch);
  }
  const { deploymentId } = source;
  const objects = createObjects(db, deploymentId);
  const base = await mergeBase(objects, target.head, source.head);
  if (base === source.head) return undefined;
  if (base === target.head && !isSquashed && !message?.trim()) return source.head;
  const heads = { ours: target.head, theirs: source.head };
  const merged = await mergeHeads(objects, heads, { deploymentId, ...how });
  if ('conflicts' in merged) throw mergeConflict(merged.conflicts, [source.name, target.name]);
  await requireWithinLimits(db, deploymentId, await listTree(objects, merged.tree));
  return writeCommit(objects, {
    tree: merged.tree,
    parents: isSquashed ? [target.head] : [target.head, source.head],
    author: { ...author, at: new Date() },
    message: messageOf(message, `Merge branch '${source.name}' into ${target.name}`),
  });
}

/**
 * Returns the tree of the target before and after a merge, or the paths in conflict. The merge has the uncommitted
 * changes of the source, if the reader sees them. No branch changes. Nothing refers to the objects that are written, so
 * they are swept later.
 */
export async function previewTree(
  db: Database,
  source: BranchRow,
  target: BranchRow,
  { author, ...how }: Pick<MergeOptions, 'texts' | 'signal' | 'author'>,
): Promise<{ before: Hash; after: Hash } | { conflicts: string[] }> {
  const { deploymentId } = source;
  const objects = createObjects(db, deploymentId);
  const [before, tree] = [await treeOfCommit(objects, target.head), await visibleTree(objects, source)];
  const by = { author: { ...author, at: new Date() }, message: '' };
  const theirs =
    tree === (await treeOfCommit(objects, source.head))
      ? source.head
      : await writeCommit(objects, { ...by, tree, parents: [source.head] });
  const base = await mergeBase(objects, target.head, theirs);
  if (base === theirs) return { before, after: before };
  if (base === target.head) return { before, after: tree };
  const merged = await mergeHeads(objects, { ours: target.head, theirs }, { deploymentId, ...how });
  if ('conflicts' in merged) return { conflicts: merged.conflicts.map(({ path }) => path) };
  return { before, after: merged.tree };
}

/**
 * Returns a commit of the uncommitted changes of the branch that is also a merge of another branch. Where both changed the
 * same lines, those of the branch are taken.
 */
export async function computeResolution(
  db: Database,
  branch: BranchRow,
  other: BranchRow,
  { author, message, ...how }: MergeOptions,
): Promise<Hash> {
  const { deploymentId } = branch;
  const objects = createObjects(db, deploymentId);
  const base = await mergeBase(objects, branch.head, other.head);
  if (base === other.head && branch.workingTree === null) throw new ApiError('nothing_to_commit');
  const by = { author: { ...author, at: new Date() } };
  // A merge needs commits, so this one has the uncommitted changes. Nothing refers to it, so it is swept later.
  const ours = await writeCommit(objects, {
    ...by,
    tree: await currentTree(objects, branch),
    parents: [branch.head],
    message: '',
  });
  const heads = { ours, theirs: other.head };
  const merged = await mergeHeads(objects, heads, { deploymentId, favour: 'ours', ...how });
  if ('conflicts' in merged) throw mergeConflict(merged.conflicts, [branch.name, other.name]);
  await requireWithinLimits(db, deploymentId, await listTree(objects, merged.tree));
  return writeCommit(objects, {
    tree: merged.tree,
    ...by,
    parents: base === other.head ? [branch.head] : [branch.head, other.head],
    message: messageOf(message, `Merge branch '${other.name}' into ${branch.name}`),
  });
}

async function mergeHeads(
  objects: Objects,
  heads: { ours: Hash; theirs: Hash },
  {
    deploymentId,
    texts,
    signal,
    favour,
  }: { deploymentId: number } & Pick<MergeOptions, 'texts' | 'signal'> & Pick<GitMergeOptions, 'favour'>,
) {
  try {
    return await texts.during({ deploymentId, signal }, (work) =>
      mergeCommits(objects, heads, { favour, texts: work }),
    );
  } catch (error) {
    throw error instanceof WorkLimitError ? new ApiError('merge_too_large') : error;
  }
}

const TRIES_MAX = 3;

/**
 * Computes something from branches, and changes them in a transaction if they are still the same. If another request
 * was faster, both are retried a few times.
 */
export async function computeAndChange<Computed extends { branches: readonly BranchRow[] }, Reply>(
  { change, signal, branchTurns }: { change: ChangeFunction; signal: AbortSignal; branchTurns: BranchLock },
  compute: () => Promise<Computed>,
  apply: (tx: Tx, computed: Computed) => Promise<{ reply: Reply; changes: Change[] }>,
) {
  for (let tries = 1; ; tries++) {
    const computed = await compute();
    const ids = computed.branches.map(({ id }) => id);
    try {
      return await branchTurns(ids, signal, () => change((tx) => apply(tx, computed)));
    } catch (error) {
      if (tries >= TRIES_MAX || !isApiError(error, 'branch_changed')) throw error;
    }
  }
}

/** Locks the branches and returns them as they are now. Throws if the files of one are not those that were seen. */
export async function lockUnchanged(
  tx: Tx,
  where: BranchScope,
  seen: readonly BranchRow[],
): Promise<BranchRow[]> {
  await store.lockBranches(
    tx,
    seen.map(({ id }) => id),
  );
  const now: BranchRow[] = [];
  for (const { id, head, workingTree } of seen) {
    const branch = await requireBranch(tx, where, { branchId: id });
    if (branch.head !== head || branch.workingTree !== workingTree) throw new ApiError('branch_changed');
    now.push(branch);
  }
  return now;
}
