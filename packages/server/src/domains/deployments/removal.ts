import { runBatches, UNTIL_DONE } from '../../platform/jobs/batches.ts';
import type { JobKind } from '../../platform/jobs/jobs.ts';
import * as store from './store.ts';

/** Removes what was in a deployment that is gone. */
export const removeDeployment: JobKind<{ deploymentId: number }> = {
  name: 'deployments.remove',
  ...UNTIL_DONE,
  async run({ deploymentId }, { db, signal }) {
    const outcome = await runBatches(signal, [
      ...store.LEFTOVER_KINDS.map((kind) => async (rows: number) => {
        const removed = await store.deleteLeftovers(db, deploymentId, kind, rows);
        if (kind === 'embed_sessions' && removed > 0) await store.revokeTokens(db, deploymentId);
        return removed;
      }),
      // Last: removing reports counts them down.
      (rows) => store.deleteReportCounts(db, deploymentId, rows),
    ]);
    return outcome === 'done' && !(await store.hasLeftovers(db, deploymentId)) ? 'done' : 'unfinished';
  },
};
