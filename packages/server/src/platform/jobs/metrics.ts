import type { Database } from '../db/database.ts';
import type { Metrics } from '../http/metrics.ts';
import { LANES } from './lanes.ts';
import { countParkedSchedules } from './schedules.store.ts';
import { countJobsByLane } from './store.ts';

export function watchJobs(metrics: Metrics, db: Database) {
  const watch = (state: 'waiting' | 'running' | 'failed', help: string) =>
    metrics.gaugeBy(`oriel_jobs_${state}`, `${help}, by lane`, 'lane', async () => {
      const none = Object.keys(LANES).map((lane) => [lane, 0]);
      const counted = (await countJobsByLane(db, state)).map(({ lane, count }) => [lane, count]);
      return Object.fromEntries([...none, ...counted]);
    });
  watch('waiting', 'Jobs that wait or are due later');
  watch('running', 'Jobs that run');
  watch('failed', 'Jobs that were given up');
  metrics.gauge('oriel_schedules_parked', 'Schedules whose pattern is broken', () =>
    countParkedSchedules(db),
  );
}
