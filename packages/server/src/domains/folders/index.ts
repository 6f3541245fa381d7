export {
  moveFolder,
  requireFolder,
  requireMoveTarget,
  requireTarget,
  requireTree,
  toFolder,
} from './folders.ts';
export { folderRoutes } from './routes.ts';
export { nameKey } from './rules.ts';
export {
  deleteFolder,
  type FolderAccessRow,
  findFolders,
  insertFolder,
  inTenant,
  lockTree,
  pathText,
  type Tree,
  visibleFolders,
} from './store.ts';
export { createTrees, type Trees } from './trees.ts';
