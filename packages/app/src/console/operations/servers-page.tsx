/** How the servers are: a few figures of the last hours, their processes, the engines, and how data sources answer. */
import { api } from '../../data/api.ts';
import { useData } from '../../data/cache.ts';
import { useDeployments } from '../../frame/account.ts';
import { locale } from '../../texts/index.ts';
import { Bars } from '../parts/bars.tsx';
import { FilterChoice, Filters } from '../parts/fields.tsx';
import { shownNumber, shownTime, useFilters, useList, useRefresh } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

const HOURS = [1, 6, 24] as const;
const MEASURES = [
  'requests',
  'errors',
  'p95Ms',
  'queries',
  'cachedQueries',
  'sessions',
  'connections',
] as const;
const HIGHEST: readonly (typeof MEASURES)[number][] = ['p95Ms', 'connections'];
const MB = 1024 ** 2;

const shownMs = (ms: number) => shownNumber(ms, { style: 'unit', unit: 'millisecond' });

function Servers({ deploymentId }: ConsolePageProps) {
  const [filters, change] = useFilters(['hours'] as const);
  const hours = HOURS.find((one) => String(one) === filters.hours) ?? 1;
  const { data: metrics } = useData(`servers/metrics/${hours}`, (signal) =>
    api.getServerMetrics({ hours }, { signal }),
  );
  const pods = useList(`servers/pods/${deploymentId}`, (first, signal) =>
    api.pods({ deploymentId, first }, { signal }),
  );
  const engines = useList('servers/engines', (first, signal) =>
    api.listEngineProcesses({ first }, { signal }),
  );
  const health = useList('servers/health', (first, signal) =>
    api.listDataSourceHealth({ first }, { signal }),
  );
  useRefresh('servers/');
  const { data: deployments = [] } = useDeployments();
  const nameOf = (id: number) => deployments.find((one) => one.id === id)?.name ?? String(id);
  const time = new Intl.DateTimeFormat(locale.value, { timeStyle: 'short' });
  const points = metrics?.points ?? [];
  return (
    <>
      <PageHead title={sayShared('servers')} hint={say('serversHint')} />
      <Filters>
        <FilterChoice
          label={say('lastHours')}
          value={String(hours)}
          onChange={(value) => change({ hours: value })}
          options={HOURS.map((one) => ({
            value: String(one),
            label: shownNumber(one, { style: 'unit', unit: 'hour', unitDisplay: 'long' }),
          }))}
        />
      </Filters>
      {metrics && points.length === 0 && <p class="soft">{say('noFigures')}</p>}
      {points.length > 0 && (
        <div class="console-cards charts">
          {MEASURES.map((measure) => {
            const values = points.map((point) => point[measure] ?? 0);
            const shown = measure === 'p95Ms' ? shownMs : (value: number) => shownNumber(value);
            const isHighest = HIGHEST.includes(measure);
            const total = shown(isHighest ? Math.max(...values) : values.reduce((sum, n) => sum + n, 0));
            return (
              <Bars
                key={measure}
                title={say(measure)}
                bars={points.map(({ at }, i) => ({ label: time.format(new Date(at)), value: values[i]! }))}
                total={isHighest ? say('atMost', { value: total }) : total}
                shown={shown}
              />
            );
          })}
        </div>
      )}
      <h2 class="next">{say('sourceHealth')}</h2>
      <Table
        label={say('sourceHealth')}
        loaded={health}
        more={health.more}
        keyOf={(one) => `${one.deploymentId} ${one.dataSource}`}
        empty={say('noHealth')}
        emptyHint={say('noHealthHint')}
        columns={[
          { title: sayShared('deployment'), cell: (one) => nameOf(one.deploymentId) },
          { title: say('dataSource'), cell: ({ dataSource, type }) => `${dataSource} (${type})` },
          {
            title: say('state'),
            cell: ({ state }) => <span class={state === 'ok' ? undefined : 'bad'}>{say(state)}</span>,
          },
          { title: say('lastOk'), isWide: true, cell: ({ lastOkAt }) => shownTime(lastOkAt) },
          {
            title: say('lastError'),
            isWide: true,
            cell: ({ lastErrorAt, lastError }) =>
              lastError ? `${shownTime(lastErrorAt)}: ${lastError}` : '–',
          },
        ]}
      />
      <h2 class="next">{say('engines')}</h2>
      <Table
        label={say('engines')}
        loaded={engines}
        more={engines.more}
        keyOf={(one) => `${one.process} ${one.deploymentId} ${one.dataSource} ${one.startedAt}`}
        empty={say('noEngines')}
        emptyHint={say('noEnginesHint')}
        columns={[
          { title: sayShared('deployment'), cell: (one) => nameOf(one.deploymentId) },
          { title: say('dataSource'), cell: ({ dataSource, type }) => `${dataSource} (${type})` },
          { title: say('state'), cell: ({ state }) => say(`engine_${state}`) },
          {
            title: say('memory'),
            isNumber: true,
            cell: ({ memoryBytes }) =>
              memoryBytes === null
                ? '–'
                : shownNumber(Math.round(memoryBytes / MB), { style: 'unit', unit: 'megabyte' }),
          },
          { title: say('queries'), isNumber: true, isWide: true, cell: (one) => shownNumber(one.queries) },
          { title: say('startedAt'), isWide: true, cell: ({ startedAt }) => shownTime(startedAt) },
          { title: say('server'), isWide: true, cell: ({ process }) => process },
        ]}
      />
      <h2 class="next">{say('health')}</h2>
      <Table
        label={say('health')}
        loaded={pods}
        more={pods.more}
        keyOf={({ name }) => name}
        empty={sayShared('none')}
        columns={[
          { title: say('server'), cell: ({ name }) => name },
          { title: say('ready'), cell: ({ ready }) => sayShared(ready ? 'yes' : 'no') },
          {
            title: say('restarts'),
            isNumber: true,
            isWide: true,
            cell: ({ restartCount }) => shownNumber(restartCount ?? 0),
          },
          { title: say('startedAt'), isWide: true, cell: ({ startedAt }) => shownTime(startedAt) },
        ]}
      />
    </>
  );
}

export default consolePage('adminServers', Servers);
