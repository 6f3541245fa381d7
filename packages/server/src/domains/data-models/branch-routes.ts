/** Branches and dev mode. */
import { operations } from '@oriel/contract';
import { type Change, changed } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { mergeBase } from '../../platform/git/merge-bases.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { pageById } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { toBranch, toDevBranch } from './branch-replies.ts';
import {
  type BranchScope,
  branchMeant,
  createBranch,
  deleteBranch,
  type EnqueueBuild,
  enterDevMode,
  leaveDevMode,
  lockBranch,
  moveBranch,
  ownBranch,
  requireBranch,
  requireBranchName,
  requireDataModelLock,
  requireDeletable,
  requireDeployBranch,
  shownInAudit,
} from './branches.ts';
import { computeAndChange } from './merges.ts';
import type { DataModelOptions } from './options.ts';
import * as store from './store.ts';

export const branchRoutes = ({ enqueueBuild, branchTurns, removeRemoteBranch }: DataModelOptions) => [
  handle(operations.listBranches, async ({ actor, db, cursors }, { params: { deploymentId }, query }) => {
    const page = await pageById(cursors, 'branches by id', query, async (by) =>
      (await store.listBranches(db, deploymentId, actor.userId, by)).map(toBranch),
    );
    return { ...page, data: page.items };
  }),

  handle(operations.createBranch, ({ actor, change }, { params: { deploymentId }, body }) => {
    const { name, from, activate, enterDevMode: enters } = body;
    const where = { deploymentId, userId: actor.userId };
    requireBranchName(name);
    return change(async (tx) => {
      await requireDataModelLock(tx, deploymentId);
      const parent = from
        ? await requireBranch(tx, where, { branchName: from })
        : await requireDeployBranch(tx, where);
      const branch = await createBranch(tx, where, { name, parent });
      const active = activate === true || enters === true;
      const entry = { id: branch.id, before: null, after: shownInAudit(branch) };
      const changes = active ? [entry, await enterDevMode(tx, actor, branch, enqueueBuild)] : [entry];
      return { reply: toDevBranch(branch, active), changes };
    });
  }),

  handle(
    operations.deleteBranch,
    async ({ actor, db, change, signal }, { params: { deploymentId }, query }) => {
      const where = { deploymentId, userId: actor.userId };
      let forgetRemote: ((tx: Tx) => Promise<unknown>) | undefined;
      if (query.removeOnUpstream) {
        // Delete it on the git host first: if the host refuses, the branch stays here too.
        requireDeletable(actor, await requireBranch(db, where, query), query.force === true);
        forgetRemote = await removeRemoteBranch({ db, signal }, deploymentId, query.branchName);
      }
      return change(async (tx) => {
        await store.lockDataModel(tx, deploymentId);
        const { id } = await requireBranch(tx, where, query);
        const branch = await lockBranch(tx, where, id);
        requireDeletable(actor, branch, query.force === true);
        await forgetRemote?.(tx);
        return { reply: undefined, changes: await deleteBranch(tx, branch) };
      });
    },
  ),

  handle(operations.setBranchStagingEnvironment, ({ actor, change }, { params: { deploymentId }, body }) =>
    change(async (tx) => {
      const where = { deploymentId, userId: actor.userId };
      const { id } = await branchMeant(tx, where, body);
      const before = await lockBranch(tx, where, id);
      if (before.isDeploy) throw new ApiError('deploy_branch_is_production');
      await store.updateStaging(tx, id, body.enabled);
      if (body.enabled && !before.isStaging) await enqueueBuild(tx, { deploymentId, branchId: id });
      const after = { ...before, isStaging: body.enabled };
      return {
        reply: { data: toBranch(after) },
        changes: changed(shownInAudit(before), { id, ...shownInAudit(after) }),
      };
    }),
  ),

  handle(operations.startDevMode, ({ actor, db, change, signal }, { params: { deploymentId }, body }) => {
    const where = { deploymentId, userId: actor.userId };
    const compute = async () => {
      const deploy = await requireDeployBranch(db, where);
      const named = body.branchName ? await requireBranch(db, where, body) : deploy;
      const behind = named.isDeploy ? await headBehind(db, where, named) : undefined;
      return { branches: named.isDeploy ? [] : [named], named, behind };
    };
    return computeAndChange({ change, signal, branchTurns }, compute, async (tx, { named, behind }) => {
      const changes: Change[] = [];
      const branch = named.isDeploy
        ? await enterableOwn(tx, where, { deploy: named, behind }, changes, enqueueBuild)
        : await lockBranch(tx, where, named.id);
      // The branch was made the deploy branch meanwhile: the retry enters the caller's own branch of it.
      if (branch.isDeploy) throw new ApiError('branch_changed');
      changes.push(await enterDevMode(tx, actor, branch, enqueueBuild));
      return { reply: toDevBranch(branch, true), changes };
    });
  }),

  handle(operations.stopDevMode, ({ actor, change }, { params: { deploymentId } }) =>
    change(async (tx) => ({
      reply: { success: true },
      changes: await leaveDevMode(tx, { deploymentId, userId: actor.userId }, enqueueBuild),
    })),
  ),
];

/** The caller's own branch of the deploy branch, locked. It moves to the newest commit if it was still `behind`. */
async function enterableOwn(
  tx: Tx,
  where: BranchScope,
  { deploy, behind }: { deploy: store.BranchRow; behind: string | undefined },
  changes: Change[],
  enqueueBuild: EnqueueBuild,
): Promise<store.BranchRow> {
  await requireDataModelLock(tx, where.deploymentId);
  const parent = await requireBranch(tx, where, { branchId: deploy.id });
  if (!parent.isDeploy) throw new ApiError('branch_changed');
  const { branch, isNew } = await ownBranch(tx, where, parent);
  if (isNew) changes.push({ id: branch.id, before: null, after: shownInAudit(branch) });
  else if (branch.head === behind && branch.workingTree === null)
    changes.push(await moveBranch(tx, branch, { head: deploy.head }, enqueueBuild));
  return branch;
}

/**
 * The newest commit of the caller's own branch, if the deploy branch has it already: a branch whose work was merged
 * follows the deploy branch when its owner enters it again.
 */
async function headBehind(db: Queryable, { deploymentId, userId }: BranchScope, deploy: store.BranchRow) {
  const own = await store.findOwnBranch(db, deploymentId, userId);
  if (!own || own.workingTree !== null || own.head === deploy.head) return undefined;
  const base = await mergeBase(createObjects(db, deploymentId), own.head, deploy.head);
  return base === own.head ? own.head : undefined;
}
