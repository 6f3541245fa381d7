/** Compiles a commit without making a build of it, and says what queries can name in it. */
import type { Model } from '@oriel/semantic';
import type { Database } from '../../platform/db/database.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { treeOfCommit } from '../data-models/index.ts';
import { type Compiler, CompilerFailure } from './compiler.ts';
import { compileProject, findProject } from './project.ts';
import { errorTextOf } from './rules.ts';

export interface CheckedCommit {
  /** Why it does not build; null if it does. */
  problem: string | null;
  /** The full names of all members of cubes and views. Empty if it does not build. */
  members: ReadonlySet<string>;
}

export type CheckCommit = (
  db: Database,
  deploymentId: number,
  commit: string,
  signal: AbortSignal,
) => Promise<CheckedCommit>;

export const createCheckCommit =
  (compiler: Compiler): CheckCommit =>
  async (db, deploymentId, commit, signal) => {
    const tree = await treeOfCommit(createObjects(db, deploymentId), commit);
    try {
      const project = await findProject(db, deploymentId, tree);
      const { errors, model } = await compileProject(compiler, db, project, signal, { wantsModel: true });
      const problem = errors.length ? errorTextOf({ reason: null, errors: [...errors] }) : null;
      return { problem, members: problem === null && model ? membersOf(model) : new Set() };
    } catch (error) {
      if (!(error instanceof CompilerFailure)) throw error;
      return { problem: error.message, members: new Set() };
    }
  };

function membersOf({ cubes, views }: Model): Set<string> {
  const names = new Set<string>();
  for (const [cube, { dimensions, measures, segments }] of cubes)
    for (const of of [dimensions, measures, segments])
      for (const member of of.keys()) names.add(`${cube}.${member}`);
  for (const [view, { members }] of views)
    for (const member of members.keys()) names.add(`${view}.${member}`);
  return names;
}
