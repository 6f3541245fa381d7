import { type FindCleanups, removeAll } from '../../platform/cleanup.ts';
import { UNTIL_DONE } from '../../platform/jobs/batches.ts';
import type { JobKind } from '../../platform/jobs/jobs.ts';

export type RemoveDeployment = JobKind<{ deploymentId: number }>;

/** Removes the content of a deleted deployment. */
export const createRemoveDeployment = (cleanup: FindCleanups): RemoveDeployment => ({
  name: 'deployments.remove',
  ...UNTIL_DONE,
  run: ({ deploymentId }, context) => removeAll(cleanup('deployment'), deploymentId, context),
});
