export * from './rules.ts';
export { folderLevel, grantedIds, ownerOf, reachedFolderIds, reportLevel, workbookLevel } from './store.ts';
