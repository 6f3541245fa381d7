/** Runs the slowest test files first, so that no process is still busy with a slow file when the others are done. */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** For the first run. Later runs use the time that each file took the last time. */
const SLOWEST = [
  'acceptance/crash.test.ts',
  'acceptance/bad-start.test.ts',
  'acceptance/stop.test.ts',
  'acceptance/embed-crash.test.ts',
  'acceptance/first-start.test.ts',
  'packages/server/test/access-model.test.ts',
  'packages/server/src/domains/workspace/large-pages.test.ts',
  'packages/server/test/workspace-plans.test.ts',
  'packages/server/test/session-model.test.ts',
  'packages/server/test/plans.test.ts',
];

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const secondsOf = new Map(files.map((file) => [file, this.#secondsOf(file)]));
    return [...files].sort((a, b) => secondsOf.get(b)! - secondsOf.get(a)!);
  }

  #secondsOf({ project, moduleId }: TestSpecification): number {
    const path = relative(this.ctx.config.root, moduleId);
    const last = this.ctx.cache.getFileTestResults(`${project.name}:${path}`);
    if (last) return last.duration / 1000;
    return SLOWEST.includes(path) ? 60 - SLOWEST.indexOf(path) : 1;
  }
}
