/** Runs the slowest test files first, so that no process is still busy with a slow file when the others are done. */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import times from './test-times.json' with { type: 'json' };

/** The times to use in the first run, as on CI. Later runs use the time that each file took the last time. */
const MEASURED: Record<string, number> = times;

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const secondsOf = new Map(files.map((file) => [file, this.#secondsOf(file)]));
    return [...files].sort((a, b) => secondsOf.get(b)! - secondsOf.get(a)!);
  }

  #secondsOf({ project, moduleId }: TestSpecification): number {
    const path = relative(this.ctx.config.root, moduleId);
    const last = this.ctx.cache.getFileTestResults(`${project.name}:${path}`);
    if (last) return last.duration / 1000;
    return MEASURED[path] ?? 1;
  }
}
