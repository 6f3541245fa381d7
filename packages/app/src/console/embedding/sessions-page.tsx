/** The ledger of embed sessions, live: for whom they were minted, how far they have come, and an end to them. */
import { useEffect } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { Icon } from '../../parts/icons.tsx';
import { Menu } from '../../parts/menu.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { addressOf } from '../../place.ts';
import { confirm } from '../parts/confirm.tsx';
import { FilterChoice, FilterField, Filters } from '../parts/fields.tsx';
import { shownTime, useFilters, useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { askToRevoke, KEY } from './live-sessions.ts';
import { say } from './say.ts';

export const texts = withShared(say);

type Entry = Awaited<ReturnType<typeof api.listEmbedSessions>>['items'][number];
const STATES = ['minted', 'exchanged', 'expired', 'revoked'] as const;
const REFRESH_MS = 4000;

const whoOf = ({ externalId, internalId }: Entry) => externalId ?? internalId ?? '–';
const isLive = ({ state }: Entry) => state === 'minted' || state === 'exchanged';

function Sessions({ deploymentId }: ConsolePageProps) {
  const [filters, change] = useFilters(['tenant', 'externalId', 'state', 'key', 'everywhere'] as const);
  const state = STATES.find((one) => one === filters.state);
  const apiKeyId = Number(filters.key) || undefined;
  const { data: keys = [] } = useData(
    'api-keys/names',
    async (signal) => (await api.listApiKeys({ first: 1000 }, { signal })).items,
  );
  const keyName = (id: number) => keys.find((one) => one.id === id)?.name ?? String(id);
  const isEverywhere = filters.everywhere === 'yes';
  const query = {
    ...(isEverywhere ? {} : { deploymentId }),
    ...(filters.tenant ? { embedTenantName: filters.tenant } : {}),
    ...(filters.externalId ? { externalId: filters.externalId } : {}),
    ...(state ? { state } : {}),
    ...(apiKeyId ? { apiKeyId } : {}),
  };
  const list = useList(`${KEY}${JSON.stringify(query)}`, (first, signal) =>
    api.listEmbedSessions({ ...query, first }, { signal }),
  );
  useEffect(() => {
    // A hidden tab does not refresh.
    const timer = setInterval(() => document.hidden || invalidate(KEY), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const revoke = (entry: Entry) =>
    confirm({
      title: say('revokeOf', { name: `${entry.embedTenantName} · ${whoOf(entry)}` }),
      hint: say('revokeHint', { count: 1, shown: 1 }),
      action: say('revoke'),
      run: async () => {
        if (await attempt(() => api.revokeEmbedSession({ id: entry.id }).then(() => true)))
          toast(say('revoked', { count: 1 }));
        invalidate(KEY);
      },
    });
  const menuOf = (entry: Entry) => {
    const { embedTenantName, externalId } = entry;
    const explain = new URLSearchParams({ tenant: embedTenantName, externalId: externalId ?? '' });
    return [
      ...(externalId === null
        ? []
        : [
            {
              label: sayShared('viewer'),
              href: `${addressOf(entry.deploymentId, 'adminViewer')}?${explain}`,
            },
          ]),
      ...(isLive(entry) ? [{ label: say('revokeSession'), begins: true, run: () => revoke(entry) }] : []),
      ...(externalId === null
        ? []
        : [
            {
              label: say('revokeViewer'),
              run: () =>
                void askToRevoke({ embedTenantName, externalId }, `${embedTenantName} · ${externalId}`),
            },
          ]),
      {
        label: say('revokeTenant'),
        run: () => void askToRevoke({ embedTenantName }, embedTenantName),
      },
      {
        label: say('revokeKey'),
        run: () =>
          void askToRevoke({ apiKeyId: entry.apiKeyId }, `${say('apiKey')} ${keyName(entry.apiKeyId)}`),
      },
    ];
  };
  return (
    <>
      <PageHead title={sayShared('sessions')} hint={say('sessionsHint')}>
        {filters.tenant && !filters.externalId && (
          <button
            type="button"
            onClick={() => void askToRevoke({ embedTenantName: filters.tenant! }, filters.tenant!)}
          >
            {say('revokeTenant')}
          </button>
        )}
        {filters.tenant && filters.externalId && (
          <button
            type="button"
            onClick={() =>
              void askToRevoke(
                { embedTenantName: filters.tenant!, externalId: filters.externalId! },
                `${filters.tenant} · ${filters.externalId}`,
              )
            }
          >
            {say('revokeViewer')}
          </button>
        )}
      </PageHead>
      <Filters>
        <FilterField
          label={say('tenant')}
          value={filters.tenant ?? ''}
          onChange={(tenant) => change({ tenant })}
        />
        <FilterField
          label={say('externalId')}
          value={filters.externalId ?? ''}
          onChange={(externalId) => change({ externalId })}
        />
        <FilterChoice
          label={say('state')}
          value={state ?? ''}
          onChange={(value) => change({ state: value })}
          options={[
            { value: '', label: sayShared('all') },
            ...STATES.map((one) => ({ value: one, label: say(`state.${one}`) })),
          ]}
        />
        <FilterChoice
          label={say('apiKey')}
          value={filters.key ?? ''}
          onChange={(key) => change({ key })}
          options={[
            { value: '', label: sayShared('all') },
            ...keys.map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
        />
        <FilterChoice
          label={sayShared('deployment')}
          value={isEverywhere ? 'yes' : ''}
          onChange={(everywhere) => change({ everywhere })}
          options={[
            { value: '', label: sayShared('thisDeployment') },
            { value: 'yes', label: sayShared('all') },
          ]}
        />
      </Filters>
      <Table<Entry>
        label={sayShared('sessions')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noSessions')}
        emptyHint={say('noTenantsHint')}
        columns={[
          { title: say('tenant'), cell: ({ embedTenantName }) => embedTenantName },
          { title: say('viewer'), cell: (entry) => whoOf(entry) },
          {
            title: say('state'),
            cell: (entry) => (
              <span class={isLive(entry) ? 'mark added' : 'mark'}>{say(`state.${entry.state}`)}</span>
            ),
          },
          {
            title: say('creatorMode'),
            isWide: true,
            cell: ({ creatorMode }) => sayShared(creatorMode ? 'yes' : 'no'),
          },
          { title: say('apiKey'), isWide: true, cell: ({ apiKeyId }) => keyName(apiKeyId) },
          { title: sayShared('created'), isWide: true, cell: ({ createdAt }) => shownTime(createdAt) },
          { title: say('lastSeen'), isWide: true, cell: ({ lastSeenAt }) => shownTime(lastSeenAt) },
          { title: say('ends'), isWide: true, cell: ({ expiresAt }) => shownTime(expiresAt) },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (entry) => (
              <Menu
                label={`${sayShared('actions')}: ${entry.embedTenantName} · ${whoOf(entry)} (${entry.id})`}
                items={menuOf(entry)}
              >
                <Icon name="more" />
              </Menu>
            ),
          },
        ]}
      />
    </>
  );
}

export default consolePage('adminSessions', Sessions);
