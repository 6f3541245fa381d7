export { requireHome } from './home.ts';
export * from './rules.ts';
export {
  type Alias,
  belongsTo,
  folderLevel,
  folderPolicyLevel,
  fromReach,
  grantedIds,
  inTenant,
  isIn,
  isPresent,
  isRemoved,
  isWithin,
  type ListedPlace,
  levelShape,
  ownerOf,
  reachedFolders,
  removedFolders,
  reportLevel,
  workbookLevel,
} from './store.ts';
