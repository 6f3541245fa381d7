import { runBatches } from '../../platform/jobs/batches.ts';
import type { JobKind } from '../../platform/jobs/jobs.ts';
import * as store from './store.ts';

/** Removes what was in a deployment that is gone. */
export const removeDeployment: JobKind<{ deploymentId: number }> = {
  name: 'deployments.remove',
  // Tried until it succeeds: what is left is in nobody's sight, and would never be found otherwise.
  maxAttempts: 1_000_000,
  run({ deploymentId }, { db, signal }) {
    return runBatches(signal, [
      ...store.LEFTOVER_KINDS.map((kind) => async (rows: number) => {
        const removed = await store.deleteLeftovers(db, deploymentId, kind, rows);
        if (kind === 'embed_sessions' && removed > 0 && removed < rows)
          await store.revokeTokens(db, deploymentId);
        return removed;
      }),
      // Last: removing reports counts them down.
      (rows) => store.deleteReportCounts(db, deploymentId, rows),
    ]);
  },
};
