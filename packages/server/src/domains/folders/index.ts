export {
  moveFolder,
  requireFolder,
  requireMoveTarget,
  requireTarget,
  requireTree,
  toFolder,
} from './folders.ts';
export { deleteFolder, emptyFolder, RETURNED_MAX, removeFolders } from './removal/removal.ts';
export { folderRoutes } from './routes.ts';
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
