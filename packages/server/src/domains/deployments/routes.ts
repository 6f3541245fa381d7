import { operations } from '@oriel/contract';
import { may, reaches } from '../../platform/auth/access.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { enqueue } from '../../platform/jobs/jobs.ts';
import type { Platform } from '../../platform/module.ts';
import { requireRegion } from '../regions/index.ts';
import type { KnownDeployments } from './known-deployments.ts';
import { removeDeployment } from './remove-deployment.ts';
import * as store from './store.ts';

const LIST = 'deployments by id';

export function deploymentRoutes(
  { cursors, publicUrl }: Pick<Platform, 'cursors' | 'publicUrl'>,
  knownDeployments: KnownDeployments,
) {
  const toDeployment = ({ id, name, creationStep }: store.DeploymentRow) => ({
    id,
    name,
    creationStep,
    deploymentUrl: `${publicUrl}/query/api/v1/deployments/${id}`,
  });

  return [
    handle(operations.getDeployments, async ({ actor, db }, { query }) => {
      const filter = { reach: readableDeployments(actor), creationSteps: query.creationStep ?? null };
      const byOffset = query.offset != null || query.limit != null;
      const byCursor = query.first !== undefined || query.after !== undefined;
      if (byOffset && byCursor) throw new ApiError('mixed_pagination');

      const total = await store.countDeployments(db, filter);
      const size = pageSize(byOffset ? query.limit : query.first);
      const offset = query.offset ?? 0;
      const afterId = query.after ? (cursors.decode(LIST, query.after)[0] as number) : 0;
      const rows = await store.listDeployments(db, filter, {
        afterId,
        offset,
        limit: size + (byOffset ? 0 : 1),
      });
      const { items, pageInfo } = toPage(rows.map(toDeployment), {
        size,
        after: query.after,
        cursorOf: ({ id }) => cursors.encode(LIST, [id]),
      });
      return {
        items,
        data: items,
        count: total,
        totalCount: total,
        pageInfo: byOffset ? null : pageInfo,
        pagination: { limit: size, offset, total },
      };
    }),

    handle(operations.getDeployment, async ({ db }, { params }) =>
      toDeployment(await requireDeployment(db, params.deploymentId)),
    ),

    handle(operations.createDeployment, ({ actor, change }, { body }) => {
      requireRegion(body.region);
      const { creationMethod = null, deployMode = null, ...given } = body;
      return change(async (tx) => {
        const created = await store.insertDeployment(tx, {
          ...given,
          creationMethod,
          deployMode,
          createdBy: actor.userId,
        });
        return {
          reply: toDeployment(created),
          changes: { id: created.id, deploymentId: created.id, before: null, after: created },
        };
      });
    }),

    handle(operations.deleteDeployment, async ({ change }, { params: { deploymentId } }) => {
      const reply = await change(async (tx) => {
        const deleted = await store.deleteDeployment(tx, deploymentId);
        if (!deleted) throw new ApiError('deployment_not_found');
        await enqueue(tx, removeDeployment, { deploymentId });
        return { reply: { success: true }, changes: { id: deleted.id, before: deleted, after: null } };
      });
      // Other servers are notified. This one knows of it before it answers.
      knownDeployments.forget(deploymentId);
      return reply;
    }),
  ];
}

/** Null for all. */
function readableDeployments(actor: Person): readonly number[] | null {
  if (may(actor, 'DeploymentRead')) return actor.deploymentIds;
  return [...actor.deploymentActions.keys()].filter((id) => reaches(actor, id));
}

async function requireDeployment(db: Queryable, id: number) {
  const deployment = await store.findDeployment(db, id);
  if (!deployment) throw new ApiError('deployment_not_found');
  return deployment;
}
