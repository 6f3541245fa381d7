import { runBatches } from '../../platform/jobs/batches.ts';
import type { JobKind } from '../../platform/jobs/jobs.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import { markChanged } from '../data-models/index.ts';
import * as store from './store.ts';

/** Removes uploads that were finished or abandoned. Their contents are removed by the sweep of the data model. */
export const removeEndedUploads: JobKind = {
  name: 'uploads.remove-ended',
  lane: 'removals',
  run: (_payload, { db, signal }) =>
    runBatches(signal, [
      (rows) => store.deleteEndedFiles(db, rows),
      async (rows) => {
        const removed = await store.deleteEnded(db, rows);
        for (const id of new Set(removed.map(({ deploymentId }) => deploymentId)))
          await markChanged(db.writes, id);
        return removed.length;
      },
    ]),
};

export const uploadSchedules: Schedule[] = [
  { name: 'uploads.remove-ended', kind: removeEndedUploads, everySeconds: 600 },
];
