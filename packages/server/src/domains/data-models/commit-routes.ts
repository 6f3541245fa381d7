/** Commits, uncommitted changes that are dropped, and what comes from a connected repository. */
import { operations } from '@oriel/contract';
import type { Change } from '../../platform/audit/change.ts';
import { mayIn, withoutAction } from '../../platform/auth/access.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { writeCommit } from '../../platform/git/commits.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { handle } from '../../platform/http/routes.ts';
import { authorOf, messageOf } from './authors.ts';
import {
  branchMeant,
  branchToResolve,
  isBuilt,
  leaveDevMode,
  lockBranch,
  moveBranch,
  requireDevMode,
} from './branches.ts';
import { computeAndChange, computeResolution, lockUnchanged } from './merges.ts';
import type { DataModelOptions } from './options.ts';
import * as store from './store.ts';

export const commitRoutes = ({ enqueueBuild, branchTurns, texts, pull }: DataModelOptions) => [
  handle(
    operations.commitChanges,
    async ({ actor, db, change, signal }, { params: { deploymentId }, body }) => {
      const where = { deploymentId, userId: actor.userId };
      const author = await authorOf(db, actor.userId);
      const finish = async (tx: Tx, moved: Change, branchId: number) => ({
        reply: { success: true },
        changes: [moved, ...(body.exitDevMode ? await leaveDevMode(tx, where, enqueueBuild, branchId) : [])],
      });
      if (body.resolveMergeConflict) {
        const compute = async () => {
          const branch = await branchMeant(db, where, body);
          requireDevMode(actor, branch);
          const other = await branchToResolve(db, where, branch);
          const head = await computeResolution(db, branch, other, {
            author,
            message: body.message,
            texts,
            signal,
          });
          return { branches: [branch, other], head };
        };
        return computeAndChange({ change, signal, branchTurns }, compute, async (tx, { branches, head }) => {
          // The commit refers to the newest one of the other branch, which a sweep could delete with that branch.
          const branch = (await lockUnchanged(tx, where, branches))[0]!;
          requireDevMode(actor, branch);
          if (branch.conflictBranchId !== null) await store.updateConflict(tx, branch.id, null);
          return finish(
            tx,
            await moveBranch(tx, branch, { head, workingTree: null }, enqueueBuild),
            branch.id,
          );
        });
      }
      const { id } = await branchMeant(db, where, body);
      const commit = async (tx: Tx) => {
        const branch = await lockBranch(tx, where, id);
        requireDevMode(actor, branch);
        if (branch.workingTree === null) throw new ApiError('nothing_to_commit');
        const head = await writeCommit(createObjects(tx, deploymentId), {
          tree: branch.workingTree,
          parents: [branch.head],
          author: { ...author, at: new Date() },
          message: messageOf(body.message, 'Change the data model'),
        });
        return finish(tx, await moveBranch(tx, branch, { head, workingTree: null }, enqueueBuild), id);
      };
      return branchTurns([id], signal, () => change(commit));
    },
  ),

  handle(
    operations.discardChanges,
    async ({ actor, db, change, signal }, { params: { deploymentId }, body }) => {
      const where = { deploymentId, userId: actor.userId };
      const { id } = await branchMeant(db, where, body);
      const discard = async (tx: Tx) => {
        const branch = await lockBranch(tx, where, id);
        requireDevMode(actor, branch);
        return {
          reply: { success: true },
          changes: await moveBranch(tx, branch, { workingTree: null }, enqueueBuild),
        };
      };
      return branchTurns([id], signal, () => change(discard));
    },
  ),

  handle(operations.pull, async ({ actor, db, change, signal }, { params: { deploymentId }, body }) => {
    const accepted = body.acceptRewritten ?? undefined;
    if (accepted !== undefined && !mayIn(actor, deploymentId, 'DeploymentsManage'))
      throw withoutAction('DeploymentsManage');
    const author = await authorOf(db, actor.userId);
    const call = { db, change, author, signal };
    const moved = await pull(call, deploymentId, body.branchName ?? null, accepted);
    return moved
      ? { ...moved, reply: { buildTriggered: isBuilt(moved.reply) } }
      : change(async () => ({ reply: { buildTriggered: false }, changes: [] }));
  }),
];
