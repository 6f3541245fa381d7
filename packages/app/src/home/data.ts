/** What home lists, and what may be done with it. */
import { signal } from '@preact/signals';
import { viewer } from '../creator/session.ts';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { useMe } from '../frame/account.ts';
import { isEmbedded } from '../place.ts';
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

export interface Listed {
  items: Item[];
  hasMore: boolean;
}

/** Items that are being deleted while their deletion can still be undone. */
export const leaving = signal<ReadonlySet<string>>(new Set());

export const cacheKey = (deploymentId: number, rest = '') => `d/${deploymentId}/${rest}`;

export function useListing(listing: Listing) {
  const { data: person } = useMe(listing.view === 'mine');
  const me = isEmbedded ? viewer.value?.user : person;
  const key = cacheKey(listing.deploymentId, `list/${JSON.stringify(listing)}`);
  const loaded = useData<Listed>(listing.view === 'mine' && !me ? null : key, (signal) =>
    load(listing, me?.id, signal),
  );
  const items = loaded.data?.items.filter((item) => !leaving.value.has(keyOfItem(item)));
  return { ...loaded, data: loaded.data && { ...loaded.data, items: items! } };
}

async function load(listing: Listing, userId: number | undefined, signal: AbortSignal): Promise<Listed> {
  const { deploymentId, view, folderId, search, order, count, tenant } = listing;
  const common = { deploymentId, ...(search ? { search } : {}) };
  if (view === 'recent') {
    const { items } = await api.getReports(
      { ...common, sortBy: 'lastViewedAt', limit: count, includeCount: false },
      { signal },
    );
    return { items, hasMore: items.length === count };
  }
  if (view === 'mine') return loadMine(listing, userId!, signal);
  const query = { ...common, first: count, orderByField: order, ...(folderId ? { folderId } : {}) };
  const { items, pageInfo } =
    view === 'shared'
      ? await api.sharedWorkspaceObjects(query, { signal })
      : await api.workspaceObjects({ ...query, ...(tenant ? { embedTenantName: tenant } : {}) }, { signal });
  return { items, hasMore: pageInfo.hasNextPage };
}

/** Of the newest workbooks and reports, those that belong to the person. */
async function loadMine(
  { deploymentId, search, order }: Listing,
  userId: number,
  signal: AbortSignal,
): Promise<Listed> {
  const first = 1000;
  const [workbooks, reports] = await Promise.all([
    api.getWorkbooks({ deploymentId, first }, { signal }),
    api.getReports({ deploymentId, first, includeCount: false }, { signal }),
  ]);
  const wanted = search.toLocaleLowerCase();
  const items = [...workbooks.items, ...reports.items]
    .filter((item) => item.userId === userId && item.name.toLocaleLowerCase().includes(wanted))
    .sort((one, other) =>
      order === 'name' ? one.name.localeCompare(other.name) : other.updatedAt.localeCompare(one.updatedAt),
    );
  return { items, hasMore: false };
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

/** All folders that the caller may read, for the tree and for moving. */
export const useFolders = (deploymentId: number, tenant?: string) =>
  useData(cacheKey(deploymentId, `folders/${tenant ?? ''}`), async (signal) => {
    const query = { deploymentId, recursive: true, first: 1000 };
    return (await api.getFolders(tenant ? { ...query, embedTenantName: tenant } : query, { signal })).items;
  });
