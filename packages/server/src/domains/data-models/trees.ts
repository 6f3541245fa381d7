/** The files of branches, as trees of git. */
import { dataModelLimits } from '@oriel/contract';
import type { Change } from '../../platform/audit/change.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { readCommit } from '../../platform/git/commits.ts';
import { createObjects, listSizes } from '../../platform/git/objects.store.ts';
import type { Hash, Objects } from '../../platform/git/objects.ts';
import { editTree, listTree } from '../../platform/git/trees.ts';
import { type EnqueueBuild, lockBranch, moveBranch, requireDevMode } from './branches.ts';
import { applyEdits, type Edits, type Files, requireNoClashes } from './edits.ts';
import { countFolders } from './paths.ts';
import type { BranchRow } from './store.ts';

export const treeOfCommit = async (objects: Objects, commit: Hash): Promise<Hash> =>
  (await readCommit(objects, commit)).tree;

/** The tree with uncommitted changes, or the tree of the newest commit. What is deployed is always committed. */
export const currentTree = async (
  objects: Objects,
  { head, workingTree, isDeploy }: BranchRow,
): Promise<Hash> => (isDeploy ? null : workingTree) ?? treeOfCommit(objects, head);

/** The tree that is built: with the uncommitted changes while any user is in dev mode on the branch. */
export const builtTree = async (objects: Objects, branch: BranchRow): Promise<Hash> =>
  branch.isDevMode ? currentTree(objects, branch) : treeOfCommit(objects, branch.head);

/** The tree that a reader sees: only users in dev mode on the branch see its uncommitted changes. */
export const visibleTree = async (objects: Objects, branch: BranchRow): Promise<Hash> =>
  branch.isActive ? currentTree(objects, branch) : treeOfCommit(objects, branch.head);

/** What a reader sees of the last upload, if there was one: a live upload is not committed. */
export const visibleUpload = async (objects: Objects, branch: BranchRow): Promise<Hash | null> => {
  const { uploadedTree, isActive, isDeploy, head } = branch;
  return isActive || isDeploy || uploadedTree === (await treeOfCommit(objects, head)) ? uploadedTree : null;
};

/** Throws if a data model with these files would be too large. */
export async function requireWithinLimits(db: Queryable, deploymentId: number, files: Files): Promise<void> {
  const max = dataModelLimits;
  if (files.size > max.files) {
    throw new ApiError('data_model_too_large', {
      message: `A data model can have ${max.files} files, and this one would have ${files.size}.`,
    });
  }
  const folders = countFolders(files.keys());
  if (folders > max.folders) {
    throw new ApiError('data_model_too_large', {
      message: `A data model can have ${max.folders} folders, and this one would have ${folders}.`,
    });
  }
  const sizes = await listSizes(db, deploymentId, files.values());
  let bytes = 0;
  for (const [path, blob] of files) {
    const size = sizes.get(blob)!;
    // A merge can make a file larger than both sides have it.
    if (size > max.fileBytes) {
      throw new ApiError('data_model_too_large', { message: `The file ${path} would have more than 1 MB.` });
    }
    bytes += size;
  }
  if (bytes > max.modelBytes) throw new ApiError('data_model_too_large');
}

export interface FileChange {
  /** Makes the edits from the files that the branch holds. Throws if they are refused. */
  plan: (files: Files) => Edits;
  /** Where the request names a path, for errors. */
  nameOf: (path: string) => string;
}

/** Changes files of a branch in dev mode, under the lock of the branch. */
export async function changeFiles(
  tx: Tx,
  actor: Person,
  { deploymentId, id }: BranchRow,
  { plan, nameOf }: FileChange,
  enqueueBuild: EnqueueBuild,
): Promise<Change[]> {
  const branch = await lockBranch(tx, { deploymentId, userId: actor.userId }, id);
  requireDevMode(actor, branch);
  const objects = createObjects(tx, deploymentId);
  const [base, committed] = [await currentTree(objects, branch), await treeOfCommit(objects, branch.head)];
  const files = await listTree(objects, base);
  const edits = plan(files);
  const after = applyEdits(files, edits);
  requireNoClashes(files, after, nameOf);
  await requireWithinLimits(tx, deploymentId, after);
  const tree = await editTree(objects, base, edits);
  const workingTree = tree === committed ? null : tree;
  const moved = await moveBranch(tx, branch, { workingTree }, enqueueBuild);
  return [moved, ...fileEntries(branch, files, edits)];
}

const FILE_ENTRIES_MAX = 1000;

/**
 * The entries of changed files in the audit log: paths and hashes, never contents. A change of more files has only the
 * entry of its branch, whose trees hold all paths.
 */
export function fileEntries({ name }: BranchRow, before: Files, edits: Edits): Change[] {
  const changed = [...edits].filter(([path, hash]) => (before.get(path) ?? null) !== hash);
  if (changed.length > FILE_ENTRIES_MAX) return [];
  const shown = (hash: Hash | null | undefined) => (hash == null ? null : { branch: name, hash });
  return changed.map(([path, hash]) => ({
    resourceType: 'dataModelFile',
    id: path,
    before: shown(before.get(path)),
    after: shown(hash),
  }));
}
