import type { Module, Platform } from '../../platform/module.ts';
import { cleanup } from './cleanup.store.ts';
import type { FolderRemoval } from './removal.ts';
import { folderRoutes } from './routes.ts';
import type { Trees } from './trees.ts';

export {
  moveFolder,
  requireFolder,
  requireFolderContent,
  requireMoveTarget,
  requireTarget,
  requireTree,
  toFolder,
} from './folders.ts';
export { foldersToRemove, isInRemoved } from './removal.store.ts';
export { createFolderRemoval, type FolderRemoval, RETURNED_MAX } from './removal.ts';
export { nameKey } from './rules.ts';
export {
  type FolderAccessRow,
  findFolders,
  insertFolder,
  lockTree,
  pathText,
  type Tree,
  visibleFolders,
} from './store.ts';
export { createTrees, type Trees } from './trees.ts';

export const folders = (
  _platform: Platform,
  { trees, removal }: { trees: Trees; removal: FolderRemoval },
): Module => ({
  routes: folderRoutes({ trees, removal }),
  jobs: removal.jobs,
  cleanup,
});
