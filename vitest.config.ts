import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'packages/**/*.test.ts',
      'acceptance/**/*.test.ts',
      // Needs what npm does not install; see scripts/test-pgbouncer.ts.
      ...(process.env.ORIEL_TEST_PGBOUNCER ? ['acceptance/pgbouncer.check.ts'] : []),
    ],
    globalSetup: 'packages/server/test/global-setup.ts',
    // Processes, because each starts servers of its own; two, because that is how many cores a small machine has.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Long enough for a busy machine: a poll ends as soon as it succeeds.
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', 'json'],
    outputFile: { json: 'node_modules/.cache/oriel-test-results.json' },
  },
});
