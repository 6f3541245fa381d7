/** The one place that decides whether a caller may use an operation. */
import { type Action, includedIn, isDeploymentOperation, type Operation } from '@oriel/contract';
import { ApiError } from '../errors.ts';
import {
  type Actor,
  type Caller,
  type EmbedSession,
  embedOf,
  isCallerFor,
  type Permissions,
  type TokenHolder,
} from './actor.ts';

const holds = (actions: ReadonlySet<Action>, action: Action) =>
  actions.has(action) || actions.has(includedIn[action] ?? action);

/** Whether a role allows the action. */
export const may = (actor: Permissions, action: Action) =>
  actor.actions.has('All') || holds(actor.actions, action);

/** Whether a role, or a policy on the deployment, allows the action. Any action on a deployment includes reading it. */
export const mayIn = (actor: Permissions, deploymentId: number, action: Action) => {
  const given = actor.deploymentActions.get(deploymentId);
  return may(actor, action) || (given !== undefined && (action === 'DeploymentRead' || holds(given, action)));
};

export const reaches = (actor: Caller, deploymentId: number) =>
  actor.deploymentIds === null || actor.deploymentIds.includes(deploymentId);

/** Throws if the contract does not allow this caller. Handlers rely on this for the type of their caller. */
export function authorize(op: Operation, actor: Actor, params: Record<string, unknown>): void {
  // No credential that the operation accepts can belong to such a caller, so this is a programming error.
  if (!isCallerFor(op.auth, actor)) throw new Error(`${op.id} cannot be called by: ${actor.kind}`);
  if (actor.kind === 'nobody') return;
  if (actor.kind === 'tokenHolder') authorizeHolder(op, actor, params.deploymentId as number);
  else authorizeCaller(op, actor, params);
}

function authorizeCaller(op: Operation, actor: Caller, params: Record<string, unknown>) {
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
  if (op.permissionOn === 'unlessCreator' && embedOf(actor)?.creatorMode) return;
  if (!mayIn(actor, deploymentId, op.permission)) throw withoutAction(op.permission);
}

/** The scopes of a token stand for the actions of a person. */
function authorizeHolder(op: Operation, { deploymentId, scopes }: TokenHolder, asked: number) {
  if (asked !== deploymentId) {
    throw new ApiError('outside_key_scope', { message: 'The environment token is for another deployment.' });
  }
  const scope = op.queryScope!;
  if (scope === 'none') {
    throw new ApiError('forbidden', { message: 'This operation does not accept environment tokens.' });
  }
  if (!scopes.has(scope)) {
    throw new ApiError('forbidden', {
      message: `The environment token does not allow this: it needs the scope \`${scope}\`.`,
    });
  }
}

function authorizeAccountWide(op: Operation, actor: Caller) {
  if (actor.deploymentIds !== null && op.scopedKeys === 'refused') {
    const owner = op.permission === 'All' ? ' of an admin' : '';
    throw new ApiError('outside_key_scope', {
      message: `A scoped API key cannot change account-wide resources. Use an unscoped key${owner}.`,
    });
  }
  // A caller who may read at least one deployment may list the deployments that they can read.
  const readsSome = op.permission === 'DeploymentRead' && actor.deploymentActions.size > 0;
  if (op.permission !== 'none' && !may(actor, op.permission) && !readsSome)
    throw withoutAction(op.permission);
}
