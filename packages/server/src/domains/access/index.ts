export { requireHome } from './home.ts';
export * from './rules.ts';
export {
  folderLevel,
  fromReach,
  grantedIds,
  isIn,
  isWithin,
  levelShape,
  ownerOf,
  type Place,
  reachedFolders,
  reportLevel,
  workbookLevel,
} from './store.ts';
