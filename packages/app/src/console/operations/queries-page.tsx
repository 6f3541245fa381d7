/** What runs now on all servers, and what was slow: who asked it, what it is, how long it takes, and an end to it. */
import { useEffect } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { confirm } from '../parts/confirm.tsx';
import { FilterField, Filters } from '../parts/fields.tsx';
import { shownNumber, shownTime, useFilters, useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

type Running = Awaited<ReturnType<typeof api.listRunningQueries>>['items'][number];
type Slow = Awaited<ReturnType<typeof api.listSlowQueries>>['items'][number];

const REFRESH_MS = 3000;
const KEY = 'running-queries/';

const seconds = (ms: number) =>
  shownNumber(ms / 1000, { style: 'unit', unit: 'second', maximumFractionDigits: 1 });

const whoOf = ({ userName, userId, embedTenantName, externalId }: Running | Slow) =>
  userId === null
    ? say('token')
    : [embedTenantName, externalId ?? userName ?? userId].filter(Boolean).join(' · ');

function Queries({ deploymentId }: ConsolePageProps) {
  const [filters, change] = useFilters(['embedTenantName', 'minSeconds'] as const);
  const { embedTenantName } = filters;
  const query = { deploymentId, ...(embedTenantName ? { embedTenantName } : {}) };
  const key = JSON.stringify(query);
  const running = useList(`${KEY}${key}`, (first, signal) =>
    api.listRunningQueries({ ...query, first }, { signal }),
  );
  const minMs = Math.round(Number(filters.minSeconds) * 1000) || undefined;
  const slow = useList(`slow-queries/${key}/${minMs}`, (first, signal) =>
    api.listSlowQueries({ ...query, ...(minMs ? { minMs } : {}), first }, { signal }),
  );
  useEffect(() => {
    const timer = setInterval(() => invalidate(KEY), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const end = (one: Running) =>
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
        <FilterField
          label={say('tenant')}
          value={embedTenantName ?? ''}
          onChange={(value) => change({ embedTenantName: value })}
        />
        <FilterField
          label={say('minSeconds')}
          value={filters.minSeconds ?? ''}
          onChange={(value) => change({ minSeconds: value })}
        />
      </Filters>
      <h2>{say('running')}</h2>
      <Table<Running>
        label={say('running')}
        loaded={running}
        more={running.more}
        keyOf={({ id }) => id}
        empty={say('noRunning')}
        columns={[
          { title: say('who'), cell: whoOf },
          { title: say('query'), isWide: true, cell: ({ query: text }) => <code class="cut">{text}</code> },
          { title: say('duration'), isNumber: true, cell: ({ durationMs }) => seconds(durationMs) },
          { title: say('state'), isWide: true, cell: ({ state }) => say(state) },
          { title: say('server'), isWide: true, cell: ({ process }) => process },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (one) => (
              <>
                <DetailsButton one={one} />
                <button type="button" class="bad" onClick={() => end(one)}>
                  {say('cancelQuery')}
                </button>
              </>
            ),
          },
        ]}
      />
      <h2 class="next">{say('slow')}</h2>
      <Table<Slow>
        label={say('slow')}
        loaded={slow}
        more={slow.more}
        keyOf={({ id }) => id}
        empty={say('noSlow')}
        columns={[
          { title: say('time'), cell: ({ startedAt }) => shownTime(startedAt) },
          { title: say('who'), cell: whoOf },
          { title: say('query'), isWide: true, cell: ({ query: text }) => <code class="cut">{text}</code> },
          { title: say('duration'), isNumber: true, cell: ({ durationMs }) => seconds(durationMs) },
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
          { title: sayShared('details'), isActions: true, cell: (one) => <DetailsButton one={one} /> },
        ]}
      />
    </>
  );
}

const DetailsButton = ({ one }: { one: Running | Slow }) => (
  <button
    type="button"
    class="quiet"
    onClick={() => openDialog((close) => <QueryDialog one={one} onClose={close} />)}
  >
    {sayShared('details')}
  </button>
);

const pretty = ({ kind, query }: Running | Slow) => {
  try {
    return kind === 'query' ? JSON.stringify(JSON.parse(query), null, 2) : query;
  } catch {
    // A long query is cut.
    return query;
  }
};

const QueryDialog = ({ one, onClose }: { one: Running | Slow; onClose(): void }) => (
  <Dialog title={whoOf(one)} size="wide" onClose={onClose}>
    <dl class="facts">
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
  </Dialog>
);

export default consolePage('adminQueries', Queries);
