/** Reads and sets policies for callers who manage the resource. */
import type { Action } from '@oriel/contract';
import { may, mayIn, reaches, withoutAction } from '../../platform/auth/access.ts';
import { type Caller, embedOf } from '../../platform/auth/actor.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import { levelOf, MANAGE, maySeeNames, NONE, NOUNS, type Viewer, viewerOf } from '../access/index.ts';
import { requireDashboard } from '../dashboards/index.ts';
import { findDeployment } from '../deployments/index.ts';
import { requireFolder, requireFolderContent } from '../folders/index.ts';
import { requireReport } from '../reports/index.ts';
import { requirePlainWorkbook, requireWorkbookContent } from '../workbooks/index.ts';
import { applicableActions, policyLevel, type ResourceType } from './rules.ts';
import * as store from './store.ts';

interface PolicyChange {
  resourceType: ResourceType;
  resourceId: number;
}

type NamedResource = { type: ResourceType; id: number; name: string };

/** The resource, and the workbook and folders above it, nearest first. */
type Chain = [store.Resource & { name: string }, ...NamedResource[]];

export async function setPolicy(
  tx: Tx,
  actor: Caller,
  body: PolicyChange & { action?: Action | null },
  principal: store.Principal,
) {
  const { resourceType: type, resourceId } = body;
  if (type !== 'Deployment') await store.lockResource(tx, type, resourceId);
  const chain = await requireChain(tx, actor, body);
  const [resource] = chain;
  const action = body.action ?? null;
  if (action !== null && !applicableActions(resource.type).includes(action)) {
    const message = `${action} cannot be given on a ${resource.type}. The actions for it are: ${applicableActions(resource.type).join(', ')}.`;
    throw new ApiError('action_not_applicable', { message, issues: [{ path: 'action', message }] });
  }
  if (action !== null) await requireHeld(tx, actor, resource, action);
  const tenant = tenantOf(actor);
  const before = (await store.findPolicy(tx, resource, principal, tenant)) ?? null;
  if (action === null) await store.deletePolicy(tx, resource, principal, tenant);
  else {
    const isNamed = maySeeNames(actor);
    const given = { action, level: policyLevel(resource.type, action), isNamed };
    if (!(await store.upsertPolicy(tx, resource, principal, given, tenant))) {
      const field = principal.column.replace('_id', 'Id');
      throw invalid(field, 'This id does not exist.', 'invalid_reference');
    }
  }
  const who = { [principal.column]: principal.id };
  return {
    reply: await readPolicies(tx, actor, chain),
    changes: {
      id: `${resource.type}:${resource.id}`,
      deploymentId: resource.deploymentId,
      before: before && { ...who, ...before },
      after: action && { ...who, action },
    },
  };
}

/** Throws unless the caller has the action themselves: on the deployment, or on the resource and what lies in it. */
async function requireHeld(
  tx: Tx,
  actor: Caller,
  { type, id, deploymentId }: store.Resource,
  action: Action,
) {
  const viewer = viewerOf(actor, deploymentId);
  if (type === 'Deployment') {
    if (!holdsOnDeployment(actor, viewer, action))
      throw new ApiError('forbidden', {
        message: `You may not give \`${action}\`: you do not have it on this deployment yourself.`,
      });
  } else if (type === 'Folder') await requireFolderContent(tx, viewer, id, policyLevel(type, action));
  else if (type === 'Workbook') await requireWorkbookContent(tx, viewer, id, policyLevel(type, action));
  // A caller who manages a report or a dashboard has every action on it, and nothing lies in it.
}

/** Manage includes edit, and edit includes read. */
const holdsOnDeployment = (actor: Caller, viewer: Viewer, action: Action) =>
  mayIn(actor, viewer.deploymentId, action) ||
  NOUNS.some((noun) => {
    const level = levelOf(noun, action);
    return level > NONE && viewer.levels[noun] >= level;
  });

/** An embedded caller shares with the users and groups of their own embed tenant, and knows of no others. */
const tenantOf = (actor: Caller) => embedOf(actor)?.embedTenant ?? null;

export async function findCandidates(db: Queryable, actor: Caller, search: string) {
  const tenant = tenantOf(actor);
  const [users, groups, roles] = await Promise.all([
    store.listUserCandidates(db, tenant, search),
    store.listGroupCandidates(db, tenant, search),
    maySeeNames(actor) ? store.listRoleCandidates(db, search) : [],
  ]);
  return { users, groups, roles };
}

export async function readPolicies(db: Queryable, actor: Caller, chain: Chain) {
  const rows = await store.listPolicies(db, chain, {
    userId: actor.userId,
    mayList: maySeeNames(actor),
    tenant: tenantOf(actor),
  });
  const granted = ({ action, inheritedFrom }: store.PolicyRow) => ({ action, inheritedFrom });
  return {
    users: rows.flatMap((row) =>
      row.userId === null
        ? []
        : [
            {
              userId: row.userId,
              email: row.email,
              firstName: row.firstName,
              picture: row.picture,
              ...granted(row),
            },
          ],
    ),
    groups: rows.flatMap((row) =>
      row.groupId === null ? [] : [{ groupId: row.groupId, name: row.groupName, ...granted(row) }],
    ),
    roles: rows.flatMap((row) =>
      row.roleId === null ? [] : [{ roleId: row.roleId, name: row.roleName, ...granted(row) }],
    ),
  };
}

/** Returns the resource, and the workbook and folders above it. Throws unless the caller manages the resource. */
export async function requireChain(
  db: Queryable,
  actor: Caller,
  { resourceType: type, resourceId: id }: PolicyChange,
): Promise<Chain> {
  if (type === 'Deployment') {
    if (tenantOf(actor) !== null) throw new ApiError('resource_not_found');
    return [await requireManagedDeployment(db, actor, id)];
  }
  const deploymentId = found(await store.findDeploymentOf(db, type, id), 'resource_not_found');
  if (!mayIn(actor, deploymentId, 'DeploymentRead')) throw new ApiError('resource_not_found');
  const chain = await chainOf(db, viewerOf(actor, deploymentId), type, id);
  // Checked last, because this error would reveal that the resource exists.
  if (!reaches(actor, deploymentId)) throw new ApiError('outside_key_scope');
  return chain;
}

async function chainOf(db: Queryable, viewer: Viewer, type: store.ContentType, id: number): Promise<Chain> {
  const { deploymentId } = viewer;
  const above = (path: { id: number; name: string }[]) =>
    path.map((folder): NamedResource => ({ type: 'Folder', ...folder })).reverse();
  const self = (name: string) => ({ type, id, deploymentId, name });
  try {
    if (type === 'Folder') {
      const folder = await requireFolder(db, viewer, id, MANAGE);
      return [self(folder.name), ...above(folder.folderPath)];
    }
    if (type === 'Workbook') {
      const workbook = await requirePlainWorkbook(db, viewer, id, MANAGE);
      return [self(workbook.name), ...above(workbook.folderPath)];
    }
    if (type === 'Dashboard') {
      const { name, workbookId, folderPath } = await requireDashboard(db, viewer, id, MANAGE);
      return [self(name), { type: 'Workbook', id: workbookId, name }, ...above(folderPath)];
    }
    const report = await requireReport(db, viewer, id, MANAGE);
    const workbook = report.workbookId === null ? [] : await workbookAbove(db, report.workbookId);
    return [self(report.name), ...workbook, ...above(report.folderPath)];
  } catch (error) {
    if (error instanceof ApiError && error.statusCode === 404) throw new ApiError('resource_not_found');
    throw error;
  }
}

async function workbookAbove(db: Queryable, id: number): Promise<NamedResource[]> {
  return [{ type: 'Workbook', id, name: (await store.findWorkbookName(db, id)) ?? '' }];
}

async function requireManagedDeployment(db: Queryable, actor: Caller, id: number) {
  if (!reaches(actor, id)) throw new ApiError('outside_key_scope');
  const row = mayIn(actor, id, 'DeploymentRead') ? await findDeployment(db, id) : undefined;
  const deployment = found(row, 'resource_not_found');
  if (!may(actor, 'DeploymentsManage')) throw withoutAction('DeploymentsManage');
  return { type: 'Deployment' as const, id, deploymentId: id, name: deployment.name };
}
