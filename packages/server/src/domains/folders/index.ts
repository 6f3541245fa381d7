import type { Module, Platform } from '../../platform/module.ts';
import { emptyFolder, removeFolders } from './removal.ts';
import { folderRoutes } from './routes.ts';
import type { Trees } from './trees.ts';

export {
  moveFolder,
  requireFolder,
  requireMoveTarget,
  requireTarget,
  requireTree,
  toFolder,
} from './folders.ts';
export { deleteFolder, RETURNED_MAX } from './removal.ts';
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

export const folders = (_platform: Platform, { trees }: { trees: Trees }): Module => ({
  routes: folderRoutes({ trees }),
  jobs: [removeFolders, emptyFolder],
});
