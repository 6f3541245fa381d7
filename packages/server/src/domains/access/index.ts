export { requireHome } from './home.ts';
export * from './rules.ts';
export {
  folderLevel,
  grantedIds,
  levelShape,
  ownerOf,
  reachedFolderIds,
  reportLevel,
  workbookLevel,
} from './store.ts';
