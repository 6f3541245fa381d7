/** Queries to the model of a branch, for people who work on it. */
import { mayIn, withoutAction } from '../../platform/auth/access.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Database } from '../../platform/db/database.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { findProject } from '../builds/index.ts';
import { requireBranch, visibleTree } from '../data-models/index.ts';
import type { QueryCaller } from './viewers.ts';

interface ModelRequest {
  actor: QueryCaller;
  deploymentId: number;
}

/**
 * Throws unless the caller works on models. Embed viewers and environment tokens have no branches, and the policies of
 * a branch are not approved yet.
 */
export function requireModeller({ actor, deploymentId }: ModelRequest): Person {
  for (const action of ['SchemaRead', 'SchemaUpdateDevBranches'] as const)
    if (actor.kind !== 'person' || !mayIn(actor, deploymentId, action)) throw withoutAction(action);
  return actor as Person;
}

/**
 * Throws unless the caller may read all data: the SQL of a branch can read every table, so a reader of its rows could,
 * too.
 */
export function requireRows(call: ModelRequest): void {
  if (!mayIn(requireModeller(call), call.deploymentId, 'DataAssetsRead'))
    throw withoutAction('DataAssetsRead');
}

/** The files of the model as this reader sees them on the branch. They are the key of everything that is kept of them. */
export async function findBranchTree(
  db: Database,
  deploymentId: number,
  userId: number,
  branchName: string,
): Promise<string | null> {
  const branch = await requireBranch(db, { deploymentId, userId }, { branchName });
  const whole = await visibleTree(createObjects(db, deploymentId), branch);
  return (await findProject(db, deploymentId, whole)).tree;
}
