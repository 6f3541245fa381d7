/** The one place that decides whether a caller may use an operation. */
import { type Action, isDeploymentOperation, type Operation } from '@oriel/contract';
import { ApiError } from '../errors.ts';
import type { Actor } from './actor.ts';

export const may = (actor: Actor, action: Action) => actor.actions.has('All') || actor.actions.has(action);

export const reaches = (actor: Actor, deploymentId: number) =>
  actor.deploymentIds === null || actor.deploymentIds.includes(deploymentId);

/** Throws where the contract does not let this caller pass. */
export function authorize(op: Operation, actor: Actor, params: Record<string, unknown>): void {
  if (op.auth === 'public') return;
  if (isDeploymentOperation(op)) {
    if (!reaches(actor, params.deploymentId as number)) throw new ApiError('outside_key_scope');
    // Who may not see the deployment is told what they would be told if it did not exist.
    if (!may(actor, 'DeploymentRead')) throw new ApiError('deployment_not_found');
  } else if (actor.deploymentIds !== null && op.method !== 'GET' && op.scopedKeys !== 'handler') {
    throw new ApiError('outside_key_scope', {
      message: 'A scoped API key can not change what is account-wide.',
    });
  }
  if (op.permission !== 'none' && !may(actor, op.permission)) throw new ApiError('forbidden');
}
