export { moveFolder, requireFolder, requireMoveTarget, requireTarget, toFolder } from './folders.ts';
export { deleteFolder, emptyFolder, RETURNED_MAX, removeFolders } from './removal/removal.ts';
export { folderRoutes } from './routes.ts';
export { nameKey } from './rules.ts';
export {
  type FolderAccessRow,
  findFolders,
  insertFolder,
  lockTree,
  pathText,
  visibleFolders,
} from './store.ts';
