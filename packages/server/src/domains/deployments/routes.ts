import { operations } from '@oriel/contract';
import { created, deleted } from '../../platform/audit/change.ts';
import { may, reaches } from '../../platform/auth/access.ts';
import type { Person } from '../../platform/auth/actor.ts';
import { found } from '../../platform/errors.ts';
import { pageByIdOrOffset } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { enqueue } from '../../platform/jobs/jobs.ts';
import type { Platform } from '../../platform/module.ts';
import { requireRegion } from '../regions/index.ts';
import type { KnownDeployments } from './known-deployments.ts';
import type { RemoveDeployment } from './removal.ts';
import * as store from './store.ts';

export function deploymentRoutes(
  { cursors, publicUrl }: Pick<Platform, 'cursors' | 'publicUrl'>,
  {
    knownDeployments,
    removeDeployment,
  }: { knownDeployments: KnownDeployments; removeDeployment: RemoveDeployment },
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
      const read = async (page: Parameters<typeof store.listDeployments>[2]) =>
        (await store.listDeployments(db, filter, page)).map(toDeployment);
      const page = await pageByIdOrOffset(cursors, 'deployments by id', query, read);
      const { items, pageInfo, limit, offset } = page;
      const total = await store.countDeployments(db, filter);
      return {
        items,
        data: items,
        count: total,
        totalCount: total,
        pageInfo,
        pagination: { limit, offset, total },
      };
    }),

    handle(operations.getDeployment, async ({ db }, { params }) =>
      toDeployment(found(await store.findDeployment(db, params.deploymentId), 'deployment_not_found')),
    ),

    handle(operations.createDeployment, ({ actor, change }, { body }) => {
      requireRegion(body.region);
      const { creationMethod = null, deployMode = null, ...given } = body;
      return change(async (tx) => {
        const deployment = await store.insertDeployment(tx, {
          ...given,
          creationMethod,
          deployMode,
          createdBy: actor.userId,
        });
        return {
          reply: toDeployment(deployment),
          changes: { ...created(deployment), deploymentId: deployment.id },
        };
      });
    }),

    handle(operations.deleteDeployment, async ({ change }, { params: { deploymentId } }) => {
      const reply = await change(async (tx) => {
        const before = found(await store.deleteDeployment(tx, deploymentId), 'deployment_not_found');
        await enqueue(tx, removeDeployment, { deploymentId });
        return { reply: { success: true }, changes: deleted(before) };
      });
      // Other servers are notified. This server must forget the deployment before it replies.
      knownDeployments.forget(deploymentId);
      return reply;
    }),
  ];
}

/** Returns null if the caller may read all deployments. */
function readableDeployments(actor: Person): readonly number[] | null {
  if (may(actor, 'DeploymentRead')) return actor.deploymentIds;
  return [...actor.deploymentActions.keys()].filter((id) => reaches(actor, id));
}
