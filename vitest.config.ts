import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/**/*.test.ts', 'acceptance/**/*.test.ts'],
    globalSetup: 'packages/server/test/global-setup.ts',
    // Processes, because each starts servers of its own; two, because that is how many cores a small machine has.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default', 'json'],
    outputFile: { json: 'node_modules/.cache/oriel-test-results.json' },
  },
});
