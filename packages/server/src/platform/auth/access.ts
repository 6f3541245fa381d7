/** The one place that decides whether a caller may use an operation. */
import { type Action, isDeploymentOperation, type Operation } from '@oriel/contract';
import { ApiError } from '../errors.ts';
import { type Actor, type Caller, type EmbedSession, embedOf, isCallerFor } from './actor.ts';

/** Whether a role allows the action. */
export const may = (actor: Caller, action: Action) => actor.actions.has('All') || actor.actions.has(action);

/** Whether a role, or a policy on the deployment, allows the action. Any action on a deployment includes reading it. */
export const mayIn = (actor: Caller, deploymentId: number, action: Action) => {
  const given = actor.deploymentActions.get(deploymentId);
  return may(actor, action) || (given !== undefined && (action === 'DeploymentRead' || given.has(action)));
};

export const reaches = (actor: Caller, deploymentId: number) =>
  actor.deploymentIds === null || actor.deploymentIds.includes(deploymentId);

/** Throws if the contract does not allow this caller. Handlers rely on this for the type of their caller. */
export function authorize(op: Operation, actor: Actor, params: Record<string, unknown>): void {
  // No credential that the operation accepts can belong to such a caller, so this is a programming error.
  if (!isCallerFor(op.auth, actor)) throw new Error(`${op.id} can not be called by: ${actor.kind}`);
  if (actor.kind === 'nobody') return;
  const embed = embedOf(actor);
  if (embed && !opensTo(embed, op)) {
    if (op.embed === 'creator') throw new ApiError('creator_mode_only');
    throw new ApiError('forbidden', { message: 'This operation does not accept embed tokens.' });
  }
  if (isDeploymentOperation(op)) authorizeIn(params.deploymentId as number, op, actor);
  else authorizeAccountWide(op, actor);
}

/** The contract tells everybody which action an operation needs, so the message reveals nothing about resources. */
export const withoutAction = (action: Action) =>
  new ApiError('forbidden', {
    message: `You may not do this: it needs the action \`${action}\`${action === 'All' ? ', which admins have' : ''}.`,
  });

/** Embed tokens can use only the operations that the contract opens to them. */
const opensTo = ({ creatorMode }: EmbedSession, { embed }: Operation) =>
  embed === 'viewer' || (embed === 'creator' && creatorMode);

function authorizeIn(deploymentId: number, op: Operation, actor: Caller) {
  if (!reaches(actor, deploymentId)) {
    const message = embedOf(actor) ? 'The embed token is for another deployment.' : undefined;
    throw new ApiError('outside_key_scope', { message });
  }
  // A caller who may not see the deployment gets the same error as if it did not exist.
  if (!mayIn(actor, deploymentId, 'DeploymentRead')) throw new ApiError('deployment_not_found');
  if (op.permission === 'none' || op.permissionOn === 'resource') return;
  if (!mayIn(actor, deploymentId, op.permission)) throw withoutAction(op.permission);
}

function authorizeAccountWide(op: Operation, actor: Caller) {
  if (actor.deploymentIds !== null && op.scopedKeys === 'refused') {
    throw new ApiError('outside_key_scope', {
      message: 'A scoped API key can not change account-wide resources.',
    });
  }
  // A caller who may read at least one deployment may list the deployments that they can read.
  const readsSome = op.permission === 'DeploymentRead' && actor.deploymentActions.size > 0;
  if (op.permission !== 'none' && !may(actor, op.permission) && !readsSome)
    throw withoutAction(op.permission);
}
