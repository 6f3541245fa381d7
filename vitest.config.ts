import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './scripts/slowest-first.ts';

const isSystem = process.env.ORIEL_TEST_SYSTEM === 'true';

export default defineConfig({
  test: {
    include: [
      // Those that load the machine on purpose run by themselves; see `npm run test:system`.
      ...(isSystem
        ? ['packages/**/*.system.ts', 'acceptance/**/*.system.ts']
        : ['packages/**/*.test.ts', 'acceptance/**/*.test.ts']),
      // Needs what npm does not install; see scripts/test-pgbouncer.ts.
      ...(process.env.ORIEL_TEST_PGBOUNCER ? ['acceptance/pgbouncer.check.ts'] : []),
      // Takes minutes; see `npm run test:packages`.
      ...(process.env.ORIEL_TEST_PACKAGES ? ['acceptance/packages.check.ts'] : []),
      // Need programs of Debian; see scripts/test-deploy.ts.
      ...(process.env.ORIEL_TEST_DEPLOY ? ['acceptance/deploy/*.check.ts'] : []),
      // Needs dbt; see scripts/test-dbt.ts.
      ...(process.env.ORIEL_TEST_DBT ? ['packages/server/test/dbt.check.ts'] : []),
      // Needs ClickHouse; see scripts/test-clickhouse.ts.
      ...(process.env.ORIEL_TEST_CLICKHOUSE_URL ? ['packages/server/test/clickhouse.check.ts'] : []),
      // Writes files; see `npm run screenshots`.
      ...(process.env.ORIEL_SCREENSHOTS
        ? ['packages/server/test/screenshots.check.ts', 'packages/server/test/embedded-screenshots.check.ts']
        : []),
    ],
    globalSetup: 'packages/server/test/global-setup.ts',
    setupFiles: ['packages/server/test/setup.ts', 'packages/server/test/row-types/setup.ts'],
    // Processes, because each starts servers of its own. A small machine has two cores; the third process uses them
    // while the other two wait, for example for a server that starts or a kill that is noticed.
    pool: 'forks',
    maxWorkers: isSystem ? 1 : 3,
    // The files of a process share its modules, and the server and database of test/world.ts.
    isolate: false,
    sequence: process.argv.includes('--sequence.shuffle.files') ? {} : { sequencer: SlowestFirst },
    // Long enough for a machine that is busy with much else: nothing waits longer than for what it waits for.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
