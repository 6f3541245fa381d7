/** Vitest as in `npm test`, with the mutants in the sources and the warm runner. */
import { readFileSync } from 'node:fs';
import { defineConfig, mergeConfig, type Plugin } from 'vitest/config';
import base from '../../vitest.config.ts';
import { root } from '../install.mjs';

/** The text of each source with all of its mutants, by its absolute path. */
const instrumented = JSON.parse(readFileSync(process.env.ORIEL_MUTANTS_SOURCES!, 'utf8')) as Record<
  string,
  string
>;

const mutants: Plugin = {
  name: 'oriel-mutants',
  enforce: 'pre',
  transform: (_, id) => instrumented[id],
};

const config = mergeConfig(base, {
  root,
  plugins: [mutants],
  test: {
    include: ['scripts/mutants/start.check.ts'],
    runner: 'scripts/mutants/runner.ts',
    maxWorkers: 1,
    experimental: { fsModuleCache: false },
    // A test that waits for what never comes has found the fault.
    expect: { poll: { timeout: 5_000 } },
  },
});
config.test.include = ['scripts/mutants/start.check.ts'];
export default defineConfig(config);
