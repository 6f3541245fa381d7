import type { Module, Platform } from '../../platform/module.ts';
import type { Builds } from './builds.ts';
import { cleanup } from './cleanup.store.ts';
import type { Compiler } from './compiler.ts';
import { buildRoutes } from './routes.ts';

export { type Builds, createBuilds } from './builds.ts';
export { type CheckCommit, type CheckTree, createCheckCommit, createCheckTree } from './check-commit.ts';
export { type Compiler, createCompiler, type Meaning, packedOf } from './compiler.ts';
export { readModelFiles } from './model-files.ts';
export { findProject } from './project.ts';
export { toModelError } from './rules.ts';

export const builds = (
  { cursors }: Pick<Platform, 'cursors'>,
  { job, enqueueBuild }: Builds,
  compiler: Compiler,
): Module => ({
  routes: buildRoutes({ compiler, enqueueBuild, cursors }),
  jobs: [job],
  cleanup,
  stop: compiler.stop,
});
