import { UNTIL_DONE } from '../../platform/jobs/batches.ts';
import type { JobKind } from '../../platform/jobs/jobs.ts';
import { type AskLeftovers, removeAll } from '../../platform/leftovers.ts';

export type RemoveDeployment = JobKind<{ deploymentId: number }>;

/** Removes the content of a deleted deployment. */
export const createRemoveDeployment = (leftovers: AskLeftovers): RemoveDeployment => ({
  name: 'deployments.remove',
  ...UNTIL_DONE,
  run: ({ deploymentId }, context) => removeAll(leftovers('deployment'), deploymentId, context),
});
