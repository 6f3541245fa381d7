/** Compiles a commit or a tree without making a build of it, and compares its meaning with that of an earlier one. */
import type { Problem } from '@oriel/semantic';
import type { Database } from '../../platform/db/database.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import type { Hash } from '../../platform/git/objects.ts';
import { treeOfCommit } from '../data-models/index.ts';
import { type Compiler, CompilerError, type Meaning } from './compiler.ts';
import { readModelFiles } from './model-files.ts';
import { compileProject, findProject } from './project.ts';
import { errorTextOf } from './rules.ts';

export interface CheckedTree {
  errors: readonly Pick<Problem, 'file' | 'message' | 'hint' | 'line' | 'column'>[];
  /** Why it does not build, in words; null if it does. */
  problem: string | null;
  /** Undefined if it does not build. */
  meaning: Meaning | undefined;
}

export type CheckTree = (
  db: Database,
  deploymentId: number,
  trees: { before: Hash | null; after: Hash },
  signal: AbortSignal,
) => Promise<CheckedTree>;

export const createCheckTree =
  (compiler: Compiler): CheckTree =>
  async (db, deploymentId, { before, after }, signal) => {
    const project = await findProject(db, deploymentId, after);
    const old = before === null ? null : (await findProject(db, deploymentId, before)).tree;
    try {
      const { errors, meaning } = await compileProject(compiler, db, project, signal, {
        before: old === null ? new Map() : await readModelFiles(db, deploymentId, old),
      });
      const problem = errors.length ? errorTextOf({ reason: null, errors: [...errors] }) : null;
      return { errors, problem, meaning };
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      const failure = { file: '', message: error.message, hint: undefined, line: 1, column: 1 };
      return { errors: [failure], problem: error.message, meaning: undefined };
    }
  };

export type CheckCommit = (
  db: Database,
  deploymentId: number,
  commit: string,
  signal: AbortSignal,
) => Promise<CheckedTree>;

export const createCheckCommit =
  (checkTree: CheckTree): CheckCommit =>
  async (db, deploymentId, commit, signal) => {
    const after = await treeOfCommit(createObjects(db, deploymentId), commit);
    return checkTree(db, deploymentId, { before: null, after }, signal);
  };
