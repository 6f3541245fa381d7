import type { Module } from '../../platform/module.ts';
import { branchRoutes } from './branch-routes.ts';
import { cleanup } from './cleanup.store.ts';
import { commitRoutes } from './commit-routes.ts';
import { fileRoutes } from './file-routes.ts';
import { historyRoutes } from './history-routes.ts';
import { mergeRoutes } from './merge-routes.ts';
import type { DataModelOptions } from './options.ts';
import { sweepSchedule } from './sweep.ts';

export { type Author, authorOf, messageOf } from './authors.ts';
export { type BranchLock, createBranchLock } from './branch-lock.ts';
export {
  type BranchScope,
  branchMeant,
  branchToRead,
  branchToWrite,
  createBranch,
  type EnqueueBuild,
  isBuilt,
  lockBranch,
  moveBranch,
  renameBranch,
  requireBranch,
  requireBranchName,
  requireDataModelLock,
  requireDeployBranch,
  requireDevMode,
  requireParent,
  requireStagingAllowed,
  shownInAudit,
  uncommitted,
} from './branches.ts';
export { createDataModels, type DataModels } from './create.ts';
export { demoDataModel } from './demo.ts';
export { applyEdits, type Edits, type Files, requireNoClashes, requirePaths } from './edits.ts';
export { computeAndChange, computeMerge, lockUnchanged, previewTree } from './merges.ts';
export { composed, contentProblem, pathProblem } from './paths.ts';
export { normalRoot, projectTree, rootOf, rootProblem } from './project-root.ts';
export { requireRoom } from './room.ts';
export {
  type BranchRow,
  findBranch,
  findDeployBranch,
  findEnteredBranch,
  findModelSettings,
  listSharedBranches,
  lockBranches,
  type ModelSettings,
  markChanged,
  settleDeployMode,
} from './store.ts';
export {
  builtTree,
  changeFiles,
  currentTree,
  fileEntries,
  requireWithinLimits,
  treeOfCommit,
  visibleTree,
} from './trees.ts';

export const dataModels = (options: DataModelOptions): Module => ({
  routes: [
    ...branchRoutes(options),
    ...fileRoutes(options),
    ...commitRoutes(options),
    ...mergeRoutes(options),
    ...historyRoutes(options),
  ],
  schedules: [sweepSchedule],
  cleanup,
  stop: options.texts.stop,
});
