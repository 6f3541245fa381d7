/** What workspaces hold: folders, workbooks and reports. */
import type { api } from '../data/api.ts';
import type { IconName } from '../parts/icons.tsx';
import { addressOf } from '../place.ts';

export type Item = Awaited<ReturnType<typeof api.workspaceObjects>>['items'][number];
export type Folder = Awaited<ReturnType<typeof api.getFolders>>['items'][number];
export type Workbook = Awaited<ReturnType<typeof api.getWorkbooks>>['items'][number];
export type Report = Awaited<ReturnType<typeof api.getReports>>['items'][number];

export const isWorkbook = (item: Item): item is Workbook => item.type === 'WORKBOOK';
export const isFolder = (item: Item): item is Folder => item.type === 'FOLDER';
export const isReport = (item: Item): item is Report => item.type === 'REPORT';

export function addressOfItem(item: Item): string {
  const { id, deploymentId } = item;
  if (isFolder(item)) return addressOf(deploymentId, 'folder', { folderId: id });
  if (isWorkbook(item)) return addressOf(deploymentId, 'workbook', { workbookId: id });
  return item.workbookId
    ? addressOf(deploymentId, 'reportInWorkbook', { workbookId: item.workbookId, reportId: id })
    : addressOf(deploymentId, 'report', { reportId: id });
}

export function iconOfItem(item: Item): IconName {
  if (isFolder(item)) return 'folder';
  return isWorkbook(item) ? (isPublished(item) ? 'dashboard' : 'workbook') : 'report';
}

export const nameOfItem = (item: Item): string => (isReport(item) && item.title) || item.name;

/** The folders that the item is in, from the root down. */
export const placeOfItem = (item: Item): string =>
  (item.folderPath ?? []).map(({ name }) => name).join(' / ');

export const keyOfItem = ({ type, id }: Pick<Item, 'type' | 'id'>): string => `${type}:${id}`;

/** Whether the dashboard of the workbook is published. */
export const isPublished = (item: Workbook): boolean =>
  Boolean(item.publishedDashboard ?? item.dashboardPublished);
