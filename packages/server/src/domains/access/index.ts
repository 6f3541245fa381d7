export { requireHome } from './home.ts';
export { newManagers } from './managers.store.ts';
export { findPermissions, PERMISSIONS, type PermissionRow } from './permissions.store.ts';
export { toPermissions } from './permissions.ts';
export * from './rules.ts';
export {
  type Alias,
  belongsTo,
  CONTENT_REFUSALS,
  dashboardLevel,
  folderLevel,
  fromReach,
  grantedIds,
  heldIds,
  inTenant,
  isIn,
  isOfTenant,
  isOfUsersIn,
  isPresent,
  isPublished,
  isRemoved,
  isWithin,
  type ListedPlace,
  levelShape,
  ownerOf,
  reachedFolders,
  removedFolders,
  reportLevel,
  seesDashboard,
  workbookLevel,
} from './store.ts';
