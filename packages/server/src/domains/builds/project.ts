/** Compiles the project of a tree: what is below the `deployProjectRoot` of the deployment. */
import type { Problem } from '@oriel/semantic';
import type { Queryable } from '../../platform/db/database.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { findModelSettings, projectTree, rootOf } from '../data-models/index.ts';
import { type CompileOptions, type Compiler, CompilerError, type Report } from './compiler.ts';
import { readModelFiles } from './model-files.ts';

export interface Project {
  deploymentId: number;
  /** The prefix of the paths of its files: empty or `folder/`. */
  root: string;
  /** The tree of the project, with paths relative to its root. Null if there is no such folder. */
  tree: string | null;
}

export async function findProject(db: Queryable, deploymentId: number, whole: string): Promise<Project> {
  const settings = await findModelSettings(db, deploymentId);
  const root = rootOf(settings?.deployProjectRoot ?? '/');
  return { deploymentId, root, tree: await projectTree(createObjects(db, deploymentId), whole, root) };
}

/** Problems name files by their whole paths. */
export async function compileProject(
  compiler: Compiler,
  db: Queryable,
  { deploymentId, root, tree }: Project,
  signal: AbortSignal,
  options?: CompileOptions,
): Promise<Report> {
  if (tree === null) {
    throw new CompilerError(`There is no folder ${root}, which the settings name as \`deployProjectRoot\`.`);
  }
  const report = await compiler.compile(await readModelFiles(db, deploymentId, tree), signal, options);
  const named = (problem: Problem) => ({ ...problem, file: problem.file && root + problem.file });
  return { ...report, errors: report.errors.map(named), warnings: report.warnings.map(named) };
}
