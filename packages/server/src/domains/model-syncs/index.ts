import type { Module, Platform } from '../../platform/module.ts';
import type { BoxedColumn } from '../../platform/secrets/box.ts';
import { cleanup } from './cleanup.store.ts';
import { createDbtWork } from './dbt-work.ts';
import { modelSyncRoutes } from './routes.ts';
import { createSyncJob, type SyncOptions } from './sync-job.ts';

export { clearModelSyncSecrets } from './store.ts';

const TOKEN_COLUMN: BoxedColumn = {
  table: 'model_sync_sources',
  column: 'token',
  keyColumn: 'token_id',
  holds: 'tokens of repositories with dbt projects',
};

/** `allowPrivate` is ORIEL_ALLOW_PRIVATE_REMOTES. */
export function modelSyncs(
  platform: Platform,
  { allowPrivate, ...options }: Omit<SyncOptions, 'work' | 'box'> & { allowPrivate: boolean },
): Module {
  const work = createDbtWork();
  const box = platform.box(TOKEN_COLUMN);
  const job = createSyncJob({ ...options, work, box });
  return {
    routes: modelSyncRoutes({ job, work, box, allowPrivate }),
    jobs: [job],
    cleanup,
    stop: work.stop,
  };
}
