import { actions, operations } from '@oriel/contract';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import { may, mayIn, reaches, withoutAction } from '../../platform/auth/access.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Tx } from '../../platform/db/database.ts';
import { type DemoStep, fillDemo, prepareDemo } from '../../platform/demo.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import { pageById, pageByIdOrOffset } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { enqueue } from '../../platform/jobs/jobs.ts';
import { deleteJobsOfDeployment } from '../../platform/jobs/store.ts';
import type { Platform } from '../../platform/module.ts';
import type { DataModels } from '../data-models/index.ts';
import { requireRegion } from '../regions/index.ts';
import type { RemoveDeployment } from './removal.ts';
import { DEPLOYMENTS_MAX, FIRST_STEP, mayFollow, stepsAfter } from './rules.ts';
import { checkSettings, mergeSettings, requireVersion, toSettings } from './settings.ts';
import { STARTER_MODEL } from './starter-model.ts';
import * as store from './store.ts';

/** What is served depends on these settings, so a change of them needs the same right as a merge. */
const DEPLOYING = [
  'deployBranchName',
  'deployBranchReadOnly',
  'deployBranchMergeAllowed',
  'deployMode',
  'deployProjectRoot',
] as const;

export function deploymentRoutes(
  { cursors, publicUrl }: Pick<Platform, 'cursors' | 'publicUrl'>,
  {
    removeDeployment,
    models,
    demo,
    version,
  }: {
    removeDeployment: RemoveDeployment;
    models: DataModels;
    /** The steps that make the demo. */
    demo(): readonly DemoStep[];
    version: string;
  },
) {
  const urlOf = (id: number) => `${publicUrl}/query/api/v1/deployments/${id}`;
  const toDeployment = ({ id, name, creationStep, isDemo }: store.ListedDeployment) => ({
    id,
    name,
    creationStep,
    deploymentUrl: urlOf(id),
    ...(isDemo ? { isDemo } : {}),
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

    handle(operations.getDeployment, async ({ actor, db }, { params: { deploymentId } }) => ({
      ...toDeployment(found(await store.findDeployment(db, deploymentId), 'deployment_not_found')),
      actions: actions.filter((action) => mayIn(actor, deploymentId, action)),
    })),

    handle(operations.createDeployment, ({ actor, change }, { body }) => {
      requireRegion(body.region);
      const { creationMethod = null, deployMode = null, ...given } = body;
      return change(async (tx) => {
        await store.lockCreation(tx);
        if ((await store.countAllDeployments(tx)) >= DEPLOYMENTS_MAX) {
          throw new ApiError('deployment_limit_reached');
        }
        const createdBy = actor.userId;
        const deployment = await store.insertDeployment(tx, {
          ...given,
          creationMethod,
          deployMode,
          createdBy,
        });
        const { id } = deployment;
        await models.createDataModel(tx, { deploymentId: id, authorId: createdBy, files: STARTER_MODEL });
        return { reply: toDeployment(deployment), changes: { ...created(deployment), deploymentId: id } };
      });
    }),

    handle(operations.addDemo, async ({ actor, db, change }) => {
      // Prepare before the lock: it takes seconds, in which no other request could create a deployment.
      const prepared = (await store.findDemo(db)) ? undefined : await prepareDemo(demo());
      return change(async (tx) => {
        await store.lockCreation(tx);
        const there = await store.findDemo(tx);
        if (there) return { reply: toDeployment(there), changes: [] };
        if ((await store.countAllDeployments(tx)) >= DEPLOYMENTS_MAX)
          throw new ApiError('deployment_limit_reached');
        // Nothing is prepared if the demo was there at first, and has just been deleted.
        const fills = prepared ?? (await prepareDemo(demo()));
        const id = await fillDemo(fills, { tx, adminId: actor.userId, isFirst: false });
        const deployment = found(await store.findDeployment(tx, id), 'deployment_not_found');
        return { reply: toDeployment(deployment), changes: { ...created(deployment), deploymentId: id } };
      });
    }),

    handle(operations.deleteDeployment, ({ change }, { params: { deploymentId } }) =>
      change(async (tx) => {
        const before = found(await store.deleteDeployment(tx, deploymentId), 'deployment_not_found');
        await deleteJobsOfDeployment(tx, deploymentId);
        await enqueue(tx, removeDeployment, { deploymentId });
        return { reply: { success: true }, changes: deleted(before) };
      }),
    ),

    handle(operations.getDeploymentSettings, async ({ db }, { params: { deploymentId } }) => {
      const deployment = found(await store.findDeployment(db, deploymentId), 'deployment_not_found');
      return toSettings(deployment, urlOf(deploymentId));
    }),

    handle(operations.updateDeployment, ({ actor, change }, { params: { deploymentId }, body }) => {
      checkSettings(body);
      return change(async (tx) => {
        const before = await lockDeployment(tx, deploymentId);
        const wanted = mergeSettings(before, body);
        requireVersion(wanted.releaseChannelVersion, before.releaseChannelVersion, version);
        const { deployBranchName } = wanted;
        const changesDeploying = DEPLOYING.some((name) => wanted[name] !== before[name]);
        if (changesDeploying && !mayIn(actor, deploymentId, 'SchemaUpdate'))
          throw withoutAction('SchemaUpdate');
        if (deployBranchName !== before.deployBranchName) {
          const isThere = await models.prepareDeployBranch(tx, deploymentId, deployBranchName);
          if (!isThere) {
            const message = `There is no branch ${deployBranchName}.`;
            throw invalid('deployBranchName', message, 'invalid_reference');
          }
        }
        const after = await store.updateDeployment(tx, deploymentId, wanted);
        if (after.deployProjectRoot !== before.deployProjectRoot) await models.buildAgain(tx, deploymentId);
        return { reply: toSettings(after, urlOf(deploymentId)), changes: changed(before, after) };
      });
    }),

    handle(
      operations.advanceCreationStep,
      ({ change }, { params: { deploymentId }, body: { creationStep } }) =>
        change(async (tx) => {
          const before = await lockDeployment(tx, deploymentId);
          if (!mayFollow(before.creationStep, creationStep))
            throw notAfter(before.creationStep, creationStep);
          const after = await store.updateCreationStep(tx, deploymentId, creationStep);
          return { reply: toDeployment(after), changes: changed(before, after) };
        }),
    ),

    handle(operations.resetCreationStep, ({ change }, { params: { deploymentId } }) =>
      change(async (tx) => {
        const before = await lockDeployment(tx, deploymentId);
        if (before.creationStep === FIRST_STEP) return { reply: toDeployment(before), changes: [] };
        const after = await store.updateCreationStep(tx, deploymentId, FIRST_STEP);
        return { reply: toDeployment(after), changes: changed(before, after) };
      }),
    ),

    handle(operations.listDeploymentVersions, async ({ db, cursors }, { params, query }) => {
      const { releaseChannel } = found(
        await store.findDeployment(db, params.deploymentId),
        'deployment_not_found',
      );
      const own = {
        id: 1,
        version,
        releaseChannel,
        releaseChannelVersion: version,
        isCurrent: true,
        isLatestInChannel: true,
      };
      const { items, pageInfo } = await pageById(cursors, 'versions', query, ({ afterId }) =>
        [own].filter(({ id }) => id > afterId),
      );
      return { items, data: items, pageInfo };
    }),
  ];
}

const lockDeployment = async (tx: Tx, id: number) =>
  found(await store.lockDeployment(tx, id), 'deployment_not_found');

function notAfter(step: store.CreationStep, next: store.CreationStep) {
  const possible = stepsAfter(step);
  const hint = possible.length ? `these can: ${possible.join(', ')}` : 'the creation is finished';
  return new ApiError('creation_step_not_allowed', {
    message: `The step \`${next}\` cannot follow \`${step}\`; ${hint}.`,
  });
}

/** Returns null if the caller may read all deployments. */
function readableDeployments(actor: Person): readonly number[] | null {
  if (may(actor, 'DeploymentRead')) return actor.deploymentIds;
  return [...actor.deploymentActions.keys()].filter((id) => reaches(actor, id));
}
