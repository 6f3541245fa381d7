/** Removes objects that nothing refers to any more: former working copies, deleted branches, abandoned uploads. */

import { sweepObjects } from '../../platform/git/sweep.ts';
import type { JobKind } from '../../platform/jobs/jobs.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import * as store from './sweep.store.ts';

/** Then other jobs get their turn. */
const MODELS_PER_RUN = 20;

export const sweepModels: JobKind = {
  name: 'data-models.sweep',
  lane: 'removals',
  async run(_payload, { db, log, signal }) {
    const failed: number[] = [];
    for (let swept = 0; swept < MODELS_PER_RUN; ) {
      const model = await store.findUnswept(db, failed);
      if (!model || signal.aborted) return 'done';
      const { deploymentId } = model;
      try {
        await sweepObjects(db, deploymentId, await store.listRoots(db, deploymentId), signal);
        if (signal.aborted) return 'done';
        await store.updateSwept(db, model);
        swept++;
      } catch (error) {
        // Skip this data model, so that it does not block the others. The next run tries it again.
        log.error({ err: error, deploymentId }, 'a data model could not be swept');
        failed.push(deploymentId);
      }
    }
    return 'unfinished';
  },
};

export const sweepSchedule: Schedule = { name: 'data-models.sweep', kind: sweepModels, everySeconds: 3600 };
