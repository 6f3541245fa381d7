/** The compilation of a data model of 200 cubes, in CPU time, as a build does it. */
import { compileModel } from '../packages/semantic/src/index.ts';
import { chainedModel } from './data-models/chained-model.ts';
import type { Benchmark, RunOptions } from './harness/benchmark.ts';

const CUBES = 200;

export const modelBuild: Benchmark = {
  name: 'model-build',
  description:
    'compiling a data model of 200 cubes and 20 views, in CPU time, against the limit of one second',
  async run({ rounds }: RunOptions) {
    const files = chainedModel({ cubes: CUBES, views: CUBES / 10 });
    const samples = Array.from({ length: rounds }, () => {
      const before = process.cpuUsage();
      const { errors, cubesCount } = compileModel(files);
      const { user, system } = process.cpuUsage(before);
      if (errors.length || cubesCount !== CUBES)
        throw new Error(`The model is not valid: ${errors[0]?.message}`);
      const meanMs = (user + system) / 1000;
      return { perSecond: 1000 / meanMs, meanMs };
    });
    const sorted = [...samples].sort((a, b) => a.meanMs - b.meanMs);
    const bytes = [...files.values()].reduce((sum, text) => sum + text.length, 0);
    return {
      measured: [{ name: 'compiling', median: sorted[Math.floor(rounds / 2)]!, samples }],
      comparisons: [],
      facts: {
        model: `${CUBES} cubes of 12 dimensions and 6 measures, ${Math.round(bytes / 1024)} KB of YAML`,
        asked: 'at most 1000 ms of CPU',
        first: `${Math.round(samples[0]!.meanMs)} ms, in a process that is not warm`,
      },
    };
  },
};
