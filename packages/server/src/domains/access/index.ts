export { requireHome } from './home.ts';
export * from './rules.ts';
export {
  folderLevel,
  grantedIds,
  isWithin,
  levelShape,
  ownerOf,
  reachedFolders,
  reportLevel,
  workbookLevel,
} from './store.ts';
