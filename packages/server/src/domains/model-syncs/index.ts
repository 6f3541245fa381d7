import type { Module } from '../../platform/module.ts';
import { createDbtWork } from './dbt-work.ts';
import { leftovers } from './leftovers.store.ts';
import { modelSyncRoutes } from './routes.ts';
import { createSyncJob, type SyncOptions } from './sync-job.ts';

export function modelSyncs(options: Omit<SyncOptions, 'work'>): Module {
  const work = createDbtWork();
  const job = createSyncJob({ ...options, work });
  return {
    routes: modelSyncRoutes(job, work),
    jobs: [job],
    leftovers,
    stop: work.stop,
  };
}
