/** Home: what is in a folder or at the root, what was opened last, what is one's own, and what others shared. */

import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useCommands } from '../commands.ts';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { FirstSteps } from '../first-run/steps.tsx';
import { useMe } from '../frame/account.ts';
import type { PageProps } from '../page-props.ts';
import { Icon } from '../parts/icons.tsx';
import { Empty, Failed, Skeleton } from '../parts/states.tsx';
import { addressOf, isEmbedded } from '../place.ts';
import { say as sayAll } from '../texts/say.ts';
import { askForFolder, askForPlace, askForWorkbook, remove } from './actions.tsx';
import { cacheKey, FIRST, type Order, useListing, useRights, type View } from './data.ts';
import { dropOn } from './drag.ts';
import { type Folder, keyOfItem } from './items.ts';
import { List } from './list.tsx';
import { say } from './say.ts';
import { Tree } from './tree.tsx';

export const texts = say;

const PAUSE_MS = 150;

const viewOf = (path: string): View => {
  const last = path.split('/').at(-1)!;
  if (last === 'recent' || last === 'mine' || last === 'shared') return last;
  return /\/folders\/\d+$/.test(path) ? 'folder' : 'home';
};

export default function HomePage({ params }: PageProps) {
  const { path, query, route } = useLocation();
  const deploymentId = Number(params.deploymentId);
  const view = viewOf(path);
  const folderId = view === 'folder' ? Number(params.folderId) : undefined;
  const tenant = query.tenant;
  const [typed, setTyped] = useState('');
  const [search, setSearch] = useState<string>(FIRST.search);
  const [order, setOrder] = useState<Order>(FIRST.order);
  const [count, setCount] = useState<number>(FIRST.count);
  const [selected, select] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    setTyped('');
    setSearch('');
    setCount(FIRST.count);
    select(new Set());
  }, [path, tenant]);

  const listing = { deploymentId, view, folderId, search, order, count, tenant };
  const { data, problem, isLoading, reload } = useListing(listing);
  const rights = useRights(deploymentId, data?.items ?? []);
  const { data: above, problem: missing } = useData(
    folderId ? cacheKey(deploymentId, `path/${folderId}`) : null,
    (signal) => api.getFolderAncestors({ deploymentId, folderId: folderId! }, { signal }),
  );
  const folder = above?.at(-1);
  const folderRights = useRights(deploymentId, folder ? [folder] : []);
  const isPlace = view === 'home' || view === 'folder';
  const canCreate = isPlace && rights.canCreate && !tenant && (!folder || folderRights.of(folder).canEdit);

  // The folders of an embed tenant are in lists of that embed tenant only.
  const inTenant = tenant ? `?${new URLSearchParams({ tenant })}` : '';

  const newFolder = () => askForFolder(deploymentId, folderId);
  const newWorkbook = () =>
    askForWorkbook(deploymentId, folderId, (workbookId) =>
      route(addressOf(deploymentId, 'workbook', { workbookId })),
    );
  useCommands(
    canCreate
      ? [
          { id: 'new-folder', title: say('newFolder'), run: newFolder },
          { id: 'new-workbook', title: say('newWorkbook'), run: newWorkbook },
        ]
      : [],
  );

  const title = folder?.name ?? sayAll(view === 'folder' ? 'home' : view);
  useEffect(() => {
    document.title = `${title} · ${sayAll('appName')}`;
  }, [title]);

  // A folder that is not there has an empty list, as one without content.
  if (view === 'folder' && missing && !above) return <Failed problem={missing} />;
  return (
    <>
      <div class="page-head">
        <div class="grow">
          {view === 'folder' && <Path deploymentId={deploymentId} above={above ?? []} query={inTenant} />}
          <h1>{title}</h1>
        </div>
        <TenantChoice tenant={tenant} isOffered={view === 'home'} path={path} />
        {canCreate && (
          <div class="buttons">
            <button type="button" class="with-icon" onClick={newFolder}>
              <Icon name="folder" size={16} />
              {say('newFolder')}
            </button>
            <button type="button" class="primary with-icon" onClick={newWorkbook}>
              <Icon name="plus" size={16} />
              {say('newWorkbook')}
            </button>
          </div>
        )}
      </div>
      {view === 'home' && !tenant && !isEmbedded && <FirstSteps deploymentId={deploymentId} />}
      <div class="home-columns">
        {isPlace && !tenant && <Tree deploymentId={deploymentId} folderId={folderId} />}
        <section class="grow" aria-label={title}>
          <div class="toolbar">
            <label class="search-field">
              <Icon name="search" size={16} />
              <input
                type="search"
                aria-label={say('filter')}
                placeholder={say('filter')}
                maxLength={255}
                value={typed}
                onInput={(event) => setTyped(event.currentTarget.value)}
              />
            </label>
            {view !== 'recent' && (
              <select
                aria-label={sayAll('order')}
                value={order}
                onChange={(event) => setOrder(event.currentTarget.value as Order)}
              >
                <option value="updated_at">{say('changed')}</option>
                <option value="name">{say('name')}</option>
              </select>
            )}
          </div>
          {selected.size > 0 && data && (
            <Selection
              count={selected.size}
              canMove={data.items
                .filter((item) => selected.has(keyOfItem(item)))
                .every((item) => rights.of(item).canMove)}
              onMove={() =>
                askForPlace(
                  data.items.filter((item) => selected.has(keyOfItem(item))),
                  () => select(new Set()),
                )
              }
              onRemove={() => {
                remove(data.items.filter((item) => selected.has(keyOfItem(item))));
                select(new Set());
              }}
              onClear={() => select(new Set())}
            />
          )}
          {!data && problem && <Failed problem={problem} retry={reload} />}
          {!data && !problem && <Skeleton />}
          {data && data.items.length > 0 && (
            <>
              <List
                items={data.items}
                rightsOf={rights.of}
                canCreate={rights.canCreate}
                selected={selected}
                select={select}
                showsPlace={!isPlace || search !== ''}
                folderQuery={inTenant}
              />
              {data.hasMore && count < 1000 && (
                <div class="actions">
                  <button
                    type="button"
                    disabled={isLoading}
                    onClick={() => setCount(Math.min(1000, count * 3))}
                  >
                    {say('more')}
                  </button>
                </div>
              )}
              <p class="soft keys">{say('keys')}</p>
            </>
          )}
          {data?.items.length === 0 && (
            <Nothing view={view} search={search} canCreate={canCreate} onCreate={newWorkbook} />
          )}
        </section>
      </div>
    </>
  );
}

const Path = ({
  deploymentId,
  above,
  query,
}: {
  deploymentId: number;
  above: readonly Folder[];
  query: string;
}) => (
  <nav class="path" aria-label={say('path')}>
    <a href={addressOf(deploymentId, 'home') + query} {...dropOn(null)}>
      {say('root')}
    </a>
    {above.slice(0, -1).map((folder) => (
      <a
        key={folder.id}
        href={addressOf(deploymentId, 'folder', { folderId: folder.id }) + query}
        {...dropOn(folder)}
      >
        {folder.name}
      </a>
    ))}
  </nav>
);

function Selection({
  count,
  canMove,
  onMove,
  onRemove,
  onClear,
}: {
  count: number;
  canMove: boolean;
  onMove(): void;
  onRemove(): void;
  onClear(): void;
}) {
  return (
    <div class="selection" role="toolbar" aria-label={say('selected', { count })}>
      <span class="grow">{say('selected', { count })}</span>
      {canMove && (
        <button type="button" onClick={onMove}>
          {say('move')}
        </button>
      )}
      {canMove && (
        <button type="button" class="bad" onClick={onRemove}>
          {say('remove')}
        </button>
      )}
      <button type="button" class="quiet" onClick={onClear}>
        {say('clearSelection')}
      </button>
    </div>
  );
}

function Nothing({
  view,
  search,
  canCreate,
  onCreate,
}: {
  view: View;
  search: string;
  canCreate: boolean;
  onCreate(): void;
}) {
  if (search) return <Empty title={say('noMatch', { text: search })} />;
  if (view === 'mine') return <Empty title={say('noneMine')} />;
  if (view === 'shared') return <Empty title={say('noneShared')} />;
  if (view === 'recent') return <Empty title={say('noneRecent')} />;
  return (
    <Empty title={say('empty')} hint={say(canCreate ? 'emptyHint' : 'emptyReadHint')}>
      {canCreate && (
        <button type="button" class="primary" onClick={onCreate}>
          {say('newWorkbook')}
        </button>
      )}
    </Empty>
  );
}

/** For admins: the content of each embed tenant, apart from that of the account. */
function TenantChoice({
  tenant,
  isOffered,
  path,
}: {
  tenant: string | undefined;
  isOffered: boolean;
  path: string;
}) {
  const { route } = useLocation();
  const { data: me } = useMe();
  const isAdmin = isOffered && me?.isAdmin === true;
  const { data: tenants = [] } = useData(isAdmin ? 'embed-tenants' : null, async (signal) =>
    (await api.listEmbedTenants({ first: 1000 }, { signal })).items.map(({ name }) => name),
  );
  if (!isAdmin || tenants.length === 0) return null;
  return (
    <select
      aria-label={say('workspaceOf')}
      value={tenant ?? ''}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        route(chosen ? `${path}?${new URLSearchParams({ tenant: chosen })}` : path);
      }}
    >
      <option value="">{say('mainWorkspace')}</option>
      {tenants.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
