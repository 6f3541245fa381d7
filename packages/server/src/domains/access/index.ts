export { requireHome } from './home.ts';
export * from './rules.ts';
export {
  type Alias,
  folderLevel,
  folderPolicyLevel,
  grantedIds,
  inTenant,
  isPresent,
  isRemoved,
  isWithin,
  levelShape,
  ownerOf,
  reachedFolders,
  removedFolders,
  reportLevel,
  workbookLevel,
} from './store.ts';
