/** Finding, creating, changing and deleting branches, and dev mode on them. */
import { isDeepStrictEqual } from 'node:util';
import { dataModelLimits } from '@oriel/contract';
import type { Change } from '../../platform/audit/change.ts';
import { mayIn, withoutAction } from '../../platform/auth/access.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import { isBranchName } from '../../platform/git/names.ts';
import { devBranchNames, namesAbove } from './branch-names.ts';
import type { BranchRow, BranchSelector } from './store.ts';
import * as store from './store.ts';

/**
 * Enqueues a build of what the branch holds when the build starts, in the transaction of the change. The branch must be
 * new or locked.
 */
export type EnqueueBuild = (tx: Tx, branch: { deploymentId: number; branchId: number }) => Promise<unknown>;

/** The user whose request it is, and the deployment that it is about. */
export interface BranchScope {
  deploymentId: number;
  userId: number;
}

const isNamed = ({ branchId, branchName }: BranchSelector) => branchId != null || branchName != null;

export async function requireBranch(
  db: Queryable,
  { deploymentId, userId }: BranchScope,
  which: BranchSelector,
) {
  const branch = await store.findBranch(db, deploymentId, userId, which);
  if (branch) return branch;
  const { branchId, branchName } = which;
  if (branchName == null) throw new ApiError('branch_not_found');
  const withId = branchId == null ? '' : ` with the id ${branchId}`;
  throw new ApiError('branch_not_found', { message: `There is no branch ${branchName}${withId}.` });
}

export const requireDeployBranch = async (db: Queryable, { deploymentId, userId }: BranchScope) =>
  found(await store.findDeployBranch(db, deploymentId, userId), 'branch_not_found');

export function requireParent(
  db: Queryable,
  where: BranchScope,
  { parentName }: BranchRow,
): Promise<BranchRow> {
  if (parentName === null) throw new ApiError('no_parent_branch');
  return requireBranch(db, where, { branchName: parentName });
}

/** The branch that a commit merges to resolve a conflict: the one that the conflict was with, or the parent. */
export const branchToResolve = (db: Queryable, where: BranchScope, branch: BranchRow): Promise<BranchRow> =>
  branch.conflictBranchId === null
    ? requireParent(db, where, branch)
    : requireBranch(db, where, { branchId: branch.conflictBranchId });

/** The branch that a reader means: without a name, the one that they entered last, or the deploy branch. */
export async function branchToRead(
  db: Queryable,
  where: BranchScope,
  which: BranchSelector,
): Promise<BranchRow> {
  if (isNamed(which)) return requireBranch(db, where, which);
  const entered = await store.findEnteredBranch(db, where.deploymentId, where.userId);
  return entered ?? requireDeployBranch(db, where);
}

/** The branch that a change of branches means: without a name, the one that the caller entered last. */
export async function branchMeant(
  db: Queryable,
  where: BranchScope,
  which: BranchSelector,
): Promise<BranchRow> {
  if (isNamed(which)) return requireBranch(db, where, which);
  const entered = await store.findEnteredBranch(db, where.deploymentId, where.userId);
  if (!entered) {
    throw new ApiError('not_in_dev_mode', {
      message: 'You are not in dev mode: name a branch, or enter dev mode first.',
    });
  }
  return entered;
}

/** Throws unless the caller may change what a staging environment serves, if the branch has one. */
export function requireStagingAllowed(actor: Person, { isStaging, deploymentId }: BranchRow): void {
  if (isStaging && !mayIn(actor, deploymentId, 'SchemaUpdate')) throw withoutAction('SchemaUpdate');
}

/** Throws unless the caller may change the files of this branch. */
export function requireDevMode(actor: Person, branch: BranchRow): void {
  const { isActive, isDeploy, name } = branch;
  if (isDeploy) {
    throw new ApiError('not_in_dev_mode', {
      message: `${name} is the deploy branch: change files on a branch in dev mode, and merge it.`,
    });
  }
  if (!isActive) throw new ApiError('not_in_dev_mode');
  requireStagingAllowed(actor, branch);
}

/** The branch whose files a request changes. Checked before anything is stored, and again under the lock. */
export async function branchToWrite(
  db: Queryable,
  actor: Person,
  deploymentId: number,
  which: BranchSelector,
): Promise<BranchRow> {
  const branch = await branchMeant(db, { deploymentId, userId: actor.userId }, which);
  requireDevMode(actor, branch);
  return branch;
}

export const uncommitted = ({ name }: BranchRow) =>
  new ApiError('uncommitted_changes', {
    message: `The branch ${name} has uncommitted changes: commit them first.`,
  });

/** Locks the branch, and returns it as it is now. */
export async function lockBranch(tx: Tx, where: BranchScope, branchId: number): Promise<BranchRow> {
  await store.lockBranches(tx, [branchId]);
  return requireBranch(tx, where, { branchId });
}

/** Whether the files of the branch are built when they change. */
export const isBuilt = ({ isDeploy, isStaging, isDevMode }: BranchRow) => isDeploy || isStaging || isDevMode;

/** Gives a locked branch a new state, and has it built. Returns the entry for the audit log. */
export async function moveBranch(
  tx: Tx,
  branch: BranchRow,
  to: Partial<store.BranchState>,
  enqueueBuild: EnqueueBuild,
): Promise<Change> {
  const { id, deploymentId, head, workingTree, uploadedTree } = branch;
  const before = { head, workingTree, uploadedTree };
  const after = { ...before, ...to };
  if (isDeepStrictEqual(before, after)) return { id, before, after };
  await store.updateBranch(tx, id, after);
  if (isBuilt(branch)) await enqueueBuild(tx, { deploymentId, branchId: id });
  return { id, before, after };
}

const refuseTaken = refusing({ branches_name_key: 'branch_name_taken' });

export function requireBranchName(name: string): void {
  if (isBranchName(name)) return;
  const rules =
    'without spaces, control characters, .. @{ ~ ^ : ? * [ or \\, and without parts that begin with . or end with .lock';
  throw invalid(
    'name',
    `must be a name that git accepts, of at most 200 bytes: ${rules}`,
    'invalid_branch_name',
  );
}

/** Locks the data model: no other transaction creates or deletes one of its branches until this one ends. */
export const requireDataModelLock = async (tx: Tx, deploymentId: number) =>
  found(await store.lockDataModel(tx, deploymentId), 'deployment_not_found');

async function requireNoNameClash(
  tx: Tx,
  deploymentId: number,
  name: string,
  renamedId: number | null = null,
) {
  const clash = await store.findNameClash(tx, deploymentId, name, namesAbove(name), renamedId);
  if (!clash) return;
  const message = `Git cannot have the branches ${clash.name} and ${name}, because one would be a folder of the other.`;
  throw new ApiError('branch_name_taken', { message });
}

/** The data model must be locked, so that nobody creates a branch whose name clashes. */
export async function renameBranch(
  tx: Tx,
  { id, deploymentId }: Pick<BranchRow, 'id' | 'deploymentId'>,
  name: string,
): Promise<void> {
  await requireNoNameClash(tx, deploymentId, name, id);
  await store.renameBranch(tx, id, name).catch(refuseTaken);
}

/** Creates a branch at the newest commit of its parent. The data model must be locked before the parent is read. */
export async function createBranch(
  tx: Tx,
  where: BranchScope,
  { name, parent, isOwn = false }: { name: string; parent: BranchRow; isOwn?: boolean },
): Promise<BranchRow> {
  const { deploymentId, userId } = where;
  if ((await store.countBranches(tx, deploymentId)) >= dataModelLimits.branches)
    throw new ApiError('too_many_branches');
  await requireNoNameClash(tx, deploymentId, name);
  const { id } = await store
    .insertBranch(tx, {
      deploymentId,
      name,
      parentId: parent.id,
      head: parent.head,
      ownerId: isOwn ? userId : null,
    })
    .catch(refuseTaken);
  return requireBranch(tx, where, { branchId: id });
}

/** Throws unless the caller may delete the branch. With `force`, its uncommitted changes may be lost. */
export function requireDeletable(actor: Person, branch: BranchRow, force: boolean): void {
  if (branch.isDeploy) throw new ApiError('deploy_branch_required');
  requireStagingAllowed(actor, branch);
  if (branch.workingTree === null || force) return;
  throw new ApiError('uncommitted_changes', {
    message: `The branch ${branch.name} has uncommitted changes, which would be lost: commit them, or delete it with \`force\`.`,
  });
}

/** The data model must be locked before the branch is; see `requireDeletable`. */
export async function deleteBranch(tx: Tx, branch: BranchRow): Promise<Change> {
  await store.deleteBranch(tx, branch);
  return { id: branch.id, before: shownInAudit(branch), after: null };
}

export const shownInAudit = ({ name, parentName, head, workingTree, isStaging }: BranchRow) => ({
  name,
  parentName,
  head,
  workingTree,
  isStaging,
});

/**
 * Lets the user enter dev mode on a locked branch. It is built if it may never have been built before, or only without
 * its uncommitted changes.
 */
export async function enterDevMode(
  tx: Tx,
  actor: Person,
  branch: BranchRow,
  enqueueBuild: EnqueueBuild,
): Promise<Change> {
  requireStagingAllowed(actor, branch);
  const { userId } = actor;
  await store.enterDevMode(tx, branch.id, userId);
  await store.settleDeployMode(tx, branch.deploymentId, 'git');
  const { id: branchId, deploymentId, isDevMode, workingTree } = branch;
  if (!isDevMode && (!isBuilt(branch) || workingTree !== null))
    await enqueueBuild(tx, { deploymentId, branchId });
  const devMode = { branchName: branch.name, userId };
  return {
    resourceType: 'devMode',
    id: branch.id,
    before: branch.isActive ? devMode : null,
    after: devMode,
  };
}

/**
 * Lets the user leave dev mode on a branch, or on all. When the last one leaves a staging branch, it is built without
 * the uncommitted changes. The branches are locked, so that one of two users who leave at the same time is the last.
 */
export async function leaveDevMode(
  tx: Tx,
  where: BranchScope,
  enqueueBuild: EnqueueBuild,
  branchId?: number,
): Promise<Change[]> {
  const { deploymentId } = where;
  await store.lockEnteredBranches(tx, { ...where, branchId });
  const left = await store.leaveDevMode(tx, { ...where, branchId });
  for (const { id } of left) {
    const { isDevMode, isStaging, workingTree } = await requireBranch(tx, where, { branchId: id });
    if (isStaging && !isDevMode && workingTree !== null)
      await enqueueBuild(tx, { deploymentId, branchId: id });
  }
  return left.map(({ id, name }) => ({
    resourceType: 'devMode',
    id,
    before: { branchName: name, userId: where.userId },
    after: null,
  }));
}

/**
 * Locks and returns the user's own branch for dev mode, and creates it at the first time. The data model must be locked.
 */
export async function ownBranch(
  tx: Tx,
  where: BranchScope,
  parent: BranchRow,
): Promise<{ branch: BranchRow; isNew: boolean }> {
  const { deploymentId, userId } = where;
  const own = await store.findOwnBranch(tx, deploymentId, userId);
  if (own && !own.isDeploy) return { branch: await lockBranch(tx, where, own.id), isNew: false };
  // The branch was made the deploy branch, so it does not belong to the user any more.
  if (own) await store.removeOwner(tx, own.id);
  const { username } = found(await store.findPerson(tx, userId), 'forbidden');
  for (const name of devBranchNames(username, userId)) {
    // A branch with this name is not the user's own: another user may work on it.
    const isTaken = (await store.findBranch(tx, deploymentId, userId, { branchName: name })) !== undefined;
    if (isTaken || (await store.findNameClash(tx, deploymentId, name, namesAbove(name), null))) continue;
    return { branch: await createBranch(tx, where, { name, parent, isOwn: true }), isNew: true };
  }
  throw new ApiError('branch_name_taken');
}
