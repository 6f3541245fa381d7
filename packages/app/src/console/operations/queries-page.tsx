/** What runs now on all servers, and what was slow: who asked it, what it is, how long it takes, and an end to it. */
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { useDeployments } from '../../frame/account.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { confirm } from '../parts/confirm.tsx';
import { FilterChoice, FilterField, Filters } from '../parts/fields.tsx';
import { shownNumber, shownTime, useFilters, useList, useRefresh } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { UserField } from '../parts/user-field.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

type RunningQuery = Awaited<ReturnType<typeof api.listRunningQueries>>['items'][number];
type SlowQuery = Awaited<ReturnType<typeof api.listSlowQueries>>['items'][number];

const KEY = 'running-queries/';

const seconds = (ms: number) =>
  shownNumber(ms / 1000, { style: 'unit', unit: 'second', maximumFractionDigits: 1 });

const whoOf = ({ userName, userId, embedTenantName, externalId }: RunningQuery | SlowQuery) =>
  userId === null ? say('token') : String((embedTenantName && externalId) || userName || userId);
const tenantOf = ({ embedTenantName }: RunningQuery | SlowQuery) => embedTenantName ?? '–';

const FILTERS = ['deploymentId', 'embedTenantName', 'userId', 'who', 'minSeconds', 'from', 'to'] as const;

/** As the API takes them: times of this browser, and a number that is none finds everything. */
function wanted(filters: Partial<Record<(typeof FILTERS)[number], string>>) {
  const number = (text = '') => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);
  const time = (text = '') => (Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString());
  const given = <T extends object>(fields: T) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value)) as {
      [Name in keyof T]?: NonNullable<T[Name]>;
    };
  const all = given({
    deploymentId: number(filters.deploymentId),
    embedTenantName: filters.embedTenantName,
    userId: number(filters.userId),
  });
  const minMs = Math.min(86_400_000, Math.round(Number(filters.minSeconds) * 1000)) || undefined;
  return {
    all,
    slow: {
      ...all,
      ...given({
        minMs: minMs && minMs > 0 ? minMs : undefined,
        from: time(filters.from),
        to: time(filters.to),
      }),
    },
  };
}

function Queries() {
  const [filters, change] = useFilters(FILTERS);
  const { data: deployments = [] } = useDeployments();
  const { all, slow: asked } = wanted(filters);
  const running = useList(`${KEY}${JSON.stringify(all)}`, (first, signal) =>
    api.listRunningQueries({ ...all, first }, { signal }),
  );
  const slow = useList(`slow-queries/${JSON.stringify(asked)}`, (first, signal) =>
    api.listSlowQueries({ ...asked, first }, { signal }),
  );
  const nameOf = (id: number) => deployments.find((one) => one.id === id)?.name ?? String(id);
  const details = (one: RunningQuery | SlowQuery) => (
    <button
      type="button"
      class="quiet"
      onClick={() =>
        openDialog((close) => (
          <QueryDialog
            one={one}
            deployment={nameOf(one.deploymentId)}
            onClose={close}
            onOnly={() => {
              close();
              change({ userId: String(one.userId), who: whoOf(one) });
            }}
          />
        ))
      }
    >
      {sayShared('details')}
    </button>
  );
  useRefresh(KEY);
  const end = (one: RunningQuery) =>
    confirm({
      title: `${say('cancelQuery')}: ${whoOf(one)}`,
      hint: say('cancelHint'),
      action: say('cancelQuery'),
      run: async () => {
        const done = await attempt(() => api.cancelQuery({ id: one.id }).then(() => true));
        if (done) toast(say('queryEnded'));
        invalidate(KEY);
        invalidate('slow-queries/');
      },
    });
  return (
    <>
      <PageHead title={sayShared('queries')} hint={say('queriesHint')}>
        <button
          type="button"
          onClick={() => {
            running.reload();
            slow.reload();
          }}
        >
          {sayShared('refresh')}
        </button>
      </PageHead>
      <Filters>
        <FilterChoice
          label={sayShared('deployment')}
          value={filters.deploymentId ?? ''}
          onChange={(value) => change({ deploymentId: value })}
          options={[
            { value: '', label: sayShared('all') },
            ...deployments.map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
        />
        <UserField
          isFilter
          label={say('user')}
          value={filters.userId ?? ''}
          shown={filters.who}
          onChange={(value) => change({ userId: value, who: '' })}
        />
        <FilterField
          label={say('tenant')}
          value={filters.embedTenantName ?? ''}
          onChange={(value) => change({ embedTenantName: value })}
        />
      </Filters>
      <h2>{say('running')}</h2>
      <Table<RunningQuery>
        label={say('running')}
        loaded={running}
        more={running.more}
        keyOf={({ id }) => id}
        empty={say('noRunning')}
        columns={[
          { title: say('who'), cell: whoOf },
          { title: say('tenant'), cell: tenantOf },
          { title: say('query'), isWide: true, cell: ({ query: text }) => <code class="cut">{text}</code> },
          { title: say('duration'), isNumber: true, cell: ({ durationMs }) => seconds(durationMs) },
          { title: say('state'), isWide: true, cell: ({ state }) => say(state) },
          {
            title: sayShared('deployment'),
            isWide: true,
            cell: ({ deploymentId }) => nameOf(deploymentId),
          },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (one) => (
              <>
                {details(one)}
                <button type="button" class="bad" onClick={() => end(one)}>
                  {say('cancelQuery')}
                </button>
              </>
            ),
          },
        ]}
      />
      <h2 class="next">{say('slow')}</h2>
      <Filters>
        <FilterField
          label={say('minSeconds')}
          value={filters.minSeconds ?? ''}
          onChange={(value) => change({ minSeconds: value })}
        />
        <FilterField
          label={say('from')}
          type="datetime-local"
          value={filters.from ?? ''}
          onChange={(value) => change({ from: value })}
        />
        <FilterField
          label={say('until')}
          type="datetime-local"
          value={filters.to ?? ''}
          onChange={(value) => change({ to: value })}
        />
      </Filters>
      <Table<SlowQuery>
        label={say('slow')}
        loaded={slow}
        more={slow.more}
        keyOf={({ id }) => id}
        empty={say('noSlow')}
        columns={[
          { title: say('time'), cell: ({ startedAt }) => shownTime(startedAt) },
          { title: say('who'), cell: whoOf },
          { title: say('tenant'), cell: tenantOf },
          { title: say('query'), isWide: true, cell: ({ query: text }) => <code class="cut">{text}</code> },
          { title: say('duration'), isNumber: true, cell: ({ durationMs }) => seconds(durationMs) },
          {
            title: say('cached'),
            isWide: true,
            cell: ({ isCached }) => sayShared(isCached ? 'yes' : 'no'),
          },
          {
            title: say('outcome'),
            isWide: true,
            cell: ({ outcome, errorCode }) => `${say(outcome)}${errorCode ? ` (${errorCode})` : ''}`,
          },
          {
            title: say('rows'),
            isNumber: true,
            isWide: true,
            cell: ({ rows }) => (rows === null ? '–' : shownNumber(rows)),
          },
          { title: sayShared('details'), isActions: true, cell: details },
        ]}
      />
    </>
  );
}

const pretty = ({ kind, query }: RunningQuery | SlowQuery) => {
  try {
    return kind === 'query' ? JSON.stringify(JSON.parse(query), null, 2) : query;
  } catch {
    // A long query is cut.
    return query;
  }
};

const QueryDialog = ({
  one,
  deployment,
  onClose,
  onOnly,
}: {
  one: RunningQuery | SlowQuery;
  deployment: string;
  onClose(): void;
  onOnly(): void;
}) => (
  <Dialog title={whoOf(one)} size="wide" onClose={onClose}>
    <dl class="facts">
      <dt>{say('tenant')}</dt>
      <dd>{tenantOf(one)}</dd>
      <dt>{sayShared('deployment')}</dt>
      <dd>{deployment}</dd>
      <dt>{say('time')}</dt>
      <dd>{shownTime(one.startedAt)}</dd>
      <dt>{say('duration')}</dt>
      <dd>{seconds(one.durationMs)}</dd>
      <dt>{say('server')}</dt>
      <dd>{one.process}</dd>
      {one.apiKeyId !== null && (
        <>
          <dt>{say('apiKey')}</dt>
          <dd>{one.apiKeyId}</dd>
        </>
      )}
      {'isCached' in one && (
        <>
          <dt>{say('cached')}</dt>
          <dd>{sayShared(one.isCached ? 'yes' : 'no')}</dd>
        </>
      )}
    </dl>
    <pre class="console-code" tabIndex={0}>
      {pretty(one)}
    </pre>
    {one.userId !== null && (
      <div class="dialog-foot">
        <button type="button" onClick={onOnly}>
          {say('onlyTheirs')}
        </button>
      </div>
    )}
  </Dialog>
);

export default consolePage('adminQueries', Queries);
