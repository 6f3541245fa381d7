import { operations } from '@oriel/contract';
import { changed } from '../../platform/audit/change.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { hasNewerOfSchedule, listJobs, lockJob, requeueJob } from '../../platform/jobs/store.ts';
import type { Platform } from '../../platform/module.ts';

const LIST = 'jobs by id, newest first';

export const jobRoutes = ({ cursors }: Pick<Platform, 'cursors'>) => [
  handle(operations.listJobs, async ({ db }, { query }) => {
    const { first, after, state = null, kind = null, deploymentId = null } = query;
    const list = `${LIST} ${JSON.stringify([state, kind, deploymentId])}`;
    const size = pageSize(first);
    const beforeId = after ? (cursors.decode(list, after)[0] as number) : null;
    const rows = await listJobs(db, { state, kind, deploymentId }, { beforeId, limit: size + 1 });
    return toPage(rows, { size, after, cursorOf: ({ id }) => cursors.encode(list, [id]) });
  }),

  handle(operations.retryJob, ({ change }, { params }) =>
    change(async (tx) => {
      const before = found(await lockJob(tx, params.id), 'job_not_found');
      if (before.state !== 'failed' && before.state !== 'waiting') throw new ApiError('job_not_retriable');
      if (before.schedule !== null && (await hasNewerOfSchedule(tx, before.id, before.schedule)))
        throw new ApiError('job_queued_again');
      const after = await requeueJob(tx, before.id);
      const changes = changed(before, after);
      return {
        reply: after,
        changes: before.deploymentId === null ? changes : { ...changes, deploymentId: before.deploymentId },
      };
    }),
  ),
];
