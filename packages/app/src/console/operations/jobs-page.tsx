/** Jobs: what waits, runs and has failed, and another try. */
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { useDeployments } from '../../frame/account.ts';
import { attempt, toast } from '../../parts/toasts.tsx';
import { FilterChoice, FilterField, Filters } from '../parts/fields.tsx';
import { shownNumber, shownTime, useFilters, useList, useRefresh } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

type State = 'waiting' | 'running' | 'failed' | 'done';
/** Above this limit of attempts, a job is retried until it succeeds, so the limit is not shown. */
const ENDLESS = 1000;
const STATES: readonly State[] = ['waiting', 'running', 'failed', 'done'];

function Jobs() {
  const [filters, change] = useFilters(['state', 'kind'] as const);
  const state = STATES.find((one) => one === filters.state);
  const query = { ...(state ? { state } : {}), ...(filters.kind ? { kind: filters.kind } : {}) };
  const list = useList(`jobs/${JSON.stringify(query)}`, (first, signal) =>
    api.listJobs({ ...query, first }, { signal }),
  );
  const { data: deployments = [] } = useDeployments();
  const nameOf = (id: number | null) => deployments.find((one) => one.id === id)?.name ?? id ?? '–';
  useRefresh('jobs/');
  const retry = async (id: number) => {
    if (await attempt(() => api.retryJob({ id }))) toast(say('queued'));
    invalidate('jobs/');
  };
  return (
    <>
      <PageHead title={sayShared('jobs')} hint={say('jobsHint')}>
        <button type="button" onClick={list.reload}>
          {sayShared('refresh')}
        </button>
      </PageHead>
      <Filters>
        <FilterChoice
          label={say('state')}
          value={state ?? ''}
          onChange={(value) => change({ state: value })}
          options={[
            { value: '', label: sayShared('all') },
            ...STATES.map((one) => ({ value: one, label: say(one) })),
          ]}
        />
        <FilterField
          label={say('kind')}
          value={filters.kind ?? ''}
          onChange={(value) => change({ kind: value })}
        />
      </Filters>
      <Table
        label={sayShared('jobs')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noJobs')}
        columns={[
          { title: say('kind'), cell: ({ kind }) => kind },
          { title: say('state'), cell: (job) => say(job.state) },
          {
            title: say('attempts'),
            isNumber: true,
            isWide: true,
            cell: ({ attempts, maxAttempts }) =>
              maxAttempts > ENDLESS ? shownNumber(attempts) : `${attempts} / ${maxAttempts}`,
          },
          { title: say('due'), cell: ({ runAt }) => shownTime(runAt) },
          {
            title: sayShared('deployment'),
            isWide: true,
            cell: ({ deploymentId }) => nameOf(deploymentId),
          },
          { title: say('lastError'), isWide: true, cell: ({ lastError }) => lastError ?? '' },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (job) =>
              (job.state === 'failed' || (job.state === 'waiting' && job.attempts > 0)) && (
                <button type="button" onClick={() => void retry(job.id)}>
                  {say('tryAgain')}
                </button>
              ),
          },
        ]}
      />
    </>
  );
}

export default consolePage('adminJobs', Jobs);
