/** Merges into the parent or into the deploy branch. */
import { operations } from '@oriel/contract';
import type { Change, ChangeFunction } from '../../platform/audit/change.ts';
import { mayIn, withoutAction } from '../../platform/auth/access.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found, isApiError } from '../../platform/errors.ts';
import type { Call } from '../../platform/http/call.ts';
import { handle } from '../../platform/http/routes.ts';
import { authorOf } from './authors.ts';
import {
  type BranchScope,
  branchMeant,
  deleteBranch,
  enterDevMode,
  leaveDevMode,
  moveBranch,
  requireDeletable,
  requireDeployBranch,
  requireParent,
  requireStagingAllowed,
} from './branches.ts';
import { computeAndChange, computeMerge, lockUnchanged } from './merges.ts';
import type { DataModelOptions } from './options.ts';
import type { BranchRow, BranchSelector } from './store.ts';
import * as store from './store.ts';

export const mergeRoutes = (options: DataModelOptions) => [
  handle(operations.mergeIntoParentBranch, (call, { params: { deploymentId }, body }) =>
    merge(call, deploymentId, {
      which: body,
      findTarget: requireParent,
      message: body.message,
      isSquashed: body.squashCommits === true,
      deletesSource: body.deleteBranch === true,
      switchesToTarget: body.switchToParentBranch === true,
      ...options,
    }),
  ),

  handle(operations.mergeToDefaultBranch, (call, { params: { deploymentId }, body }) =>
    merge(call, deploymentId, {
      which: body,
      findTarget: async (db, where, source) => {
        if (source.isDeploy) throw new ApiError('no_parent_branch');
        return requireDeployBranch(db, where);
      },
      message: body.message,
      isSquashed: body.squashCommits === true,
      deletesSource: body.removeBranchAfterMerge === true,
      switchesToTarget: false,
      ...options,
    }),
  ),
];

interface MergeRequest extends DataModelOptions {
  which: BranchSelector;
  findTarget: (db: Queryable, where: BranchScope, source: BranchRow) => Promise<BranchRow>;
  message: string | null | undefined;
  isSquashed: boolean;
  deletesSource: boolean;
  switchesToTarget: boolean;
}

async function merge(
  { actor, db, change, signal }: Pick<Call<Person>, 'actor' | 'db' | 'signal'> & { change: ChangeFunction },
  deploymentId: number,
  request: MergeRequest,
) {
  const where = { deploymentId, userId: actor.userId };
  const author = await authorOf(db, actor.userId);
  const { message, isSquashed, branchTurns, texts } = request;
  const compute = async () => {
    const source = await branchMeant(db, where, request.which);
    const target = await request.findTarget(db, where, source);
    await requireMergeAllowed(db, actor, target);
    try {
      const head = await computeMerge(db, source, target, {
        author,
        message,
        isSquashed,
        texts,
        signal,
      });
      return { branches: [source, target], head };
    } catch (error) {
      if (isApiError(error, 'merge_conflict')) await store.updateConflict(db.writes, source.id, target.id);
      throw error;
    }
  };
  return computeAndChange({ change, signal, branchTurns }, compute, (tx, { branches, head }) =>
    putInPlace(tx, actor, where, request, { branches, head }),
  );
}

async function requireMergeAllowed(db: Queryable, actor: Person, target: BranchRow) {
  requireStagingAllowed(actor, target);
  if (!target.isDeploy) return;
  const { deploymentId } = target;
  if (!mayIn(actor, deploymentId, 'SchemaUpdate')) throw withoutAction('SchemaUpdate');
  const settings = found(await store.findModelSettings(db, deploymentId), 'deployment_not_found');
  if (settings.isReadOnly) throw new ApiError('deploy_branch_read_only');
  if (!settings.isMergeAllowed) throw new ApiError('deploy_branch_merge_not_allowed');
}

async function putInPlace(
  tx: Tx,
  actor: Person,
  where: BranchScope,
  { findTarget, deletesSource, switchesToTarget, enqueueBuild }: MergeRequest,
  seen: { branches: BranchRow[]; head: string | undefined },
) {
  if (deletesSource) await store.lockDataModel(tx, where.deploymentId);
  const [source, target] = (await lockUnchanged(tx, where, seen.branches)) as [BranchRow, BranchRow];
  // Meanwhile another branch may have become the target or the deploy branch, or the settings may have changed.
  if ((await findTarget(tx, where, source)).id !== target.id) throw new ApiError('branch_changed');
  await requireMergeAllowed(tx, actor, target);
  const changes: Change[] = [];
  if (source.conflictBranchId !== null) await store.updateConflict(tx, source.id, null);
  if (seen.head !== undefined) changes.push(await moveBranch(tx, target, { head: seen.head }, enqueueBuild));
  if (switchesToTarget) {
    changes.push(...(await leaveDevMode(tx, where, enqueueBuild, source.id)));
    if (!target.isDeploy) changes.push(await enterDevMode(tx, actor, target, enqueueBuild));
  }
  if (deletesSource) {
    requireDeletable(actor, source, true);
    changes.push(await deleteBranch(tx, source));
  }
  return { reply: { merged: seen.head !== undefined, branchDeleted: deletesSource }, changes };
}
