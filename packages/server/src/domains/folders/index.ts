export { moveFolder, requireFolder, requireMoveTarget, requireTarget, toFolder } from './folders.ts';
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
  visibleFolders,
} from './store.ts';
