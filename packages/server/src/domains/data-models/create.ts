/** New data models, and commits that are not requests: of new deployments and of the demo. */
import type { Tx } from '../../platform/db/database.ts';
import { found } from '../../platform/errors.ts';
import { writeCommit } from '../../platform/git/commits.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { blobOf, type Hash } from '../../platform/git/objects.ts';
import { EMPTY_TREE, editTree } from '../../platform/git/trees.ts';
import { type Author, authorOf } from './authors.ts';
import { type EnqueueBuild, moveBranch, uncommitted } from './branches.ts';
import * as store from './store.ts';
import { treeOfCommit } from './trees.ts';

interface NewCommit {
  author: Author;
  message: string;
  /** The new text by path; null removes the file. */
  files: ReadonlyMap<string, string | null>;
  /** Now, by default. */
  at?: Date | undefined;
}

/** What other domains do with data models. */
export interface DataModels {
  /** Creates the deploy branch of a new deployment with a first commit of these files, and enqueues its first build. */
  createDataModel(
    tx: Tx,
    model: { deploymentId: number; authorId: number; files: ReadonlyMap<string, string>; at?: Date },
  ): Promise<void>;
  /** Adds a commit to a branch. */
  addCommit(
    tx: Tx,
    branch: { deploymentId: number; branchName: string },
    commit: Omit<NewCommit, 'author'> & { authorId: number },
  ): Promise<void>;
  /** Adds a branch that begins where the deploy branch is. */
  addBranch(tx: Tx, branch: { deploymentId: number; name: string }): Promise<void>;
  /**
   * Enqueues a build of a branch that will be the deploy branch. Returns false if there is no such branch. Throws if
   * the branch has uncommitted changes: nobody could commit them on the deploy branch. No one can change or delete the
   * branch until the transaction ends.
   */
  prepareDeployBranch(tx: Tx, deploymentId: number, branchName: string): Promise<boolean>;
  /** Enqueues a build of every branch that is built when it changes. */
  buildAgain(tx: Tx, deploymentId: number): Promise<void>;
}

export const createDataModels = (enqueueBuild: EnqueueBuild): DataModels => ({
  async createDataModel(tx, { deploymentId, authorId, files, at }) {
    const settings = await store.findModelSettings(tx, deploymentId);
    const { deployBranchName: name } = found(settings, 'deployment_not_found');
    const author = await authorOf(tx, authorId);
    await store.insertDataModel(tx, deploymentId);
    const head = await writeChanges(tx, deploymentId, null, {
      author,
      message: 'Start the data model',
      files,
      at,
    });
    const { id } = await store.insertBranch(tx, { deploymentId, name, parentId: null, head });
    await enqueueBuild(tx, { deploymentId, branchId: id });
  },

  async addCommit(tx, { deploymentId, branchName }, { authorId, ...commit }) {
    const branch = found(await store.findBranch(tx, deploymentId, null, { branchName }), 'branch_not_found');
    const author = await authorOf(tx, authorId);
    const head = await writeChanges(tx, deploymentId, branch.head, { ...commit, author });
    await moveBranch(tx, branch, { head }, enqueueBuild);
  },

  async addBranch(tx, { deploymentId, name }) {
    const deploy = await store.findDeployBranch(tx, deploymentId, null);
    const { id: parentId, head } = found(deploy, 'branch_not_found');
    await store.insertBranch(tx, { deploymentId, name, parentId, head });
  },

  async prepareDeployBranch(tx, deploymentId, branchName) {
    const branch = await store.findBranch(tx, deploymentId, null, { branchName });
    if (!branch || !(await store.lockBranches(tx, [branch.id])).length) return false;
    const locked = await store.findBranch(tx, deploymentId, null, { branchId: branch.id });
    if (locked?.workingTree != null) throw uncommitted(locked);
    await enqueueBuild(tx, { deploymentId, branchId: branch.id });
    return true;
  },

  async buildAgain(tx, deploymentId) {
    for (const { id } of await store.lockBuiltBranches(tx, deploymentId))
      await enqueueBuild(tx, { deploymentId, branchId: id });
  },
});

async function writeChanges(
  tx: Tx,
  deploymentId: number,
  parent: Hash | null,
  { author, message, files, at = new Date() }: NewCommit,
): Promise<Hash> {
  const objects = createObjects(tx, deploymentId);
  const edits = new Map<string, Hash | null>();
  const written = [...files].filter((file): file is [string, string] => file[1] !== null);
  const hashes = await objects.write(written.map(([, text]) => blobOf(text)));
  for (const [i, [path]] of written.entries()) edits.set(path, hashes[i]!);
  for (const [path, text] of files) if (text === null) edits.set(path, null);
  const base = parent === null ? EMPTY_TREE : await treeOfCommit(objects, parent);
  const tree = await editTree(objects, base, edits);
  return writeCommit(objects, {
    tree,
    parents: parent === null ? [] : [parent],
    author: { ...author, at },
    message,
  });
}
