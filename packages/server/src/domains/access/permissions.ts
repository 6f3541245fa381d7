/** Turns the stored permissions of a person into the form that the checks of a request need. */
import type { Action } from '@oriel/contract';
import type { Permissions } from '../../platform/auth/actor.ts';
import type { PermissionRow } from './permissions.store.ts';

export const toPermissions = (row: PermissionRow): Permissions => ({
  actions: new Set(row.actions),
  deploymentActions: byDeployment(row.deploymentActions),
});

function byDeployment(given: PermissionRow['deploymentActions']) {
  const actions = new Map<number, Set<Action>>();
  for (const { deploymentId, action } of given) {
    actions.set(deploymentId, (actions.get(deploymentId) ?? new Set()).add(action));
  }
  return actions;
}
