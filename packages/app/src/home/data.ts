/** What home lists, and what may be done with it. */
import { signal } from '@preact/signals';
import { api } from '../data/api.ts';
import { askAhead, useData } from '../data/cache.ts';
import { type Item, isFolder, isReport, isWorkbook, keyOfItem } from './items.ts';

export type View = 'home' | 'folder' | 'recent' | 'mine' | 'shared';
export type Order = 'updated_at' | 'name';

export interface Listing {
  deploymentId: number;
  view: View;
  folderId: number | undefined;
  search: string;
  order: Order;
  count: number;
  /** For admins: the content of an embed tenant instead of that of the account. */
  tenant: string | undefined;
}

export interface ItemList {
  items: Item[];
  hasMore: boolean;
}

/** Items that are being deleted while their deletion can still be undone. */
export const leaving = signal<ReadonlySet<string>>(new Set());

export const cacheKey = (deploymentId: number, rest = '') => `d/${deploymentId}/${rest}`;

/** What the list at the root begins with. */
export const FIRST = { search: '', order: 'updated_at', count: 100 } as const;

const keyOfListing = ({ deploymentId, view, folderId, search, order, count, tenant }: Listing) =>
  cacheKey(deploymentId, `list/${JSON.stringify([view, folderId, search, order, count, tenant])}`);

/** Asks for what home shows while its script is on the way. */
export function askForHome(deploymentId: number) {
  const listing: Listing = { deploymentId, view: 'home', folderId: undefined, tenant: undefined, ...FIRST };
  askAhead<ItemList>(keyOfListing(listing), (signal) => load(listing, signal));
  askAhead(keyOfFolders(deploymentId), loadFolders(deploymentId));
}

export function useListing(listing: Listing) {
  const loaded = useData<ItemList>(keyOfListing(listing), (signal) => load(listing, signal));
  const items = loaded.data?.items.filter((item) => !leaving.value.has(keyOfItem(item)));
  return { ...loaded, data: loaded.data && { ...loaded.data, items: items! } };
}

async function load(listing: Listing, signal: AbortSignal): Promise<ItemList> {
  const { deploymentId, view, folderId, search, order, count, tenant } = listing;
  const common = { deploymentId, ...(search ? { search } : {}) };
  if (view === 'recent') {
    const { items } = await api.getReports(
      { ...common, sortBy: 'lastViewedAt', limit: count, includeCount: false },
      { signal },
    );
    return { items, hasMore: items.length === count };
  }
  const query = { ...common, first: count, orderByField: order, ...(folderId ? { folderId } : {}) };
  const { items, pageInfo } =
    view === 'shared'
      ? await api.sharedWorkspaceObjects(query, { signal })
      : await api.workspaceObjects(
          {
            ...query,
            ...(view === 'mine' ? { owned: true } : {}),
            ...(tenant ? { embedTenantName: tenant } : {}),
          },
          { signal },
        );
  return { items, hasMore: pageInfo.hasNextPage };
}

export interface Rights {
  canEdit: boolean;
  canManage: boolean;
  canMove: boolean;
}

export const NO_RIGHTS: Rights = { canEdit: false, canManage: false, canMove: false };

/** What the caller may do with these items. Until the server has said it, nothing is offered. */
export function useRights(deploymentId: number, items: readonly Item[]) {
  const shown = items.slice(0, 500);
  const ids = (is: (item: Item) => boolean) => shown.filter(is).map(({ id }) => id);
  const wanted = { folderIds: ids(isFolder), workbookIds: ids(isWorkbook), reportIds: ids(isReport) };
  const { data } = useData(cacheKey(deploymentId, `rights/${JSON.stringify(wanted)}`), (signal) =>
    api.workspaceRights({ deploymentId, ...wanted }, { signal }),
  );
  const byKey = new Map<string, Rights>();
  for (const one of data?.folders ?? []) byKey.set(`FOLDER:${one.id}`, one);
  for (const one of data?.workbooks ?? []) byKey.set(`WORKBOOK:${one.id}`, one);
  for (const one of data?.reports ?? []) byKey.set(`REPORT:${one.id}`, one);
  return {
    canCreate: data?.canCreate ?? false,
    actions: data?.actions ?? [],
    of: (item: Item): Rights => byKey.get(keyOfItem(item)) ?? NO_RIGHTS,
  };
}

const keyOfFolders = (deploymentId: number, tenant = '') => cacheKey(deploymentId, `folders/${tenant}`);
const loadFolders = (deploymentId: number, tenant?: string) => async (signal: AbortSignal) => {
  const query = { deploymentId, recursive: true, first: 1000 };
  return (await api.getFolders(tenant ? { ...query, embedTenantName: tenant } : query, { signal })).items;
};

/** All folders that the caller may read, for the tree and for moving. */
export const useFolders = (deploymentId: number, tenant?: string) =>
  useData(keyOfFolders(deploymentId, tenant), loadFolders(deploymentId, tenant));
