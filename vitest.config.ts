import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './scripts/slowest-first.ts';

/** `npm run test:system` sets which of its two parts runs; a `*.system.ts` that is named on the command line runs too. */
const system = process.env.ORIEL_TEST_SYSTEM;
const isSystemNamed = process.argv.some((argument) => argument.includes('.system'));
const TESTS = ['packages/**/*.test.ts', 'acceptance/**/*.test.ts'];
const SYSTEM = ['packages/**/*.system.ts', 'acceptance/**/*.system.ts'];
/** They load the machine on purpose, so they run one after the other, after everything else. */
const LOAD = 'packages/server/test/system/**';

function included(): string[] {
  if (system === 'load') return [`${LOAD}/*.system.ts`];
  if (system) return SYSTEM;
  return isSystemNamed ? [...TESTS, ...SYSTEM] : TESTS;
}

export default defineConfig({
  test: {
    include: [
      ...included(),
      // Needs what npm does not install; see scripts/test-pgbouncer.ts.
      ...(process.env.ORIEL_TEST_PGBOUNCER ? ['acceptance/pgbouncer.check.ts'] : []),
      // Take minutes; see `npm run test:packages`.
      ...(process.env.ORIEL_TEST_PACKAGES ? ['acceptance/{packages,npx,release}.check.ts'] : []),
      // Takes minutes; see `npm run test:mutants:runner`.
      ...(process.env.ORIEL_TEST_MUTANTS ? ['packages/server/test/mutants.check.ts'] : []),
      // Need programs of Debian; see scripts/test-deploy.ts.
      ...(process.env.ORIEL_TEST_DEPLOY ? ['acceptance/deploy/*.check.ts'] : []),
      // Needs dbt; see scripts/test-dbt.ts.
      ...(process.env.ORIEL_TEST_DBT ? ['packages/server/test/dbt.check.ts'] : []),
      // Needs Gitea; see scripts/test-gitea.ts.
      ...(process.env.ORIEL_TEST_GITEA ? ['packages/server/test/gitea.check.ts'] : []),
      // Needs the SDK of AWS for Python; see scripts/test-workload-identity.ts.
      ...(process.env.ORIEL_TEST_BOTO3 ? ['packages/server/test/workload-identity.check.ts'] : []),
      // Needs ClickHouse; see scripts/test-clickhouse.ts.
      ...(process.env.ORIEL_TEST_CLICKHOUSE_URL ? ['packages/server/test/clickhouse.check.ts'] : []),
      // Writes files; see `npm run screenshots`.
      ...(process.env.ORIEL_SCREENSHOTS
        ? ['packages/server/test/{app-,console-,embedded-,}screenshots.check.ts']
        : []),
    ],
    exclude: ['**/node_modules/**', ...(system === 'processes' ? [LOAD] : [])],
    env: { ORIEL_TEST_CHEAP_PASSWORDS: String(!system && !isSystemNamed) },
    globalSetup: 'packages/server/test/global-setup.ts',
    setupFiles: ['packages/server/test/setup.ts', 'packages/server/test/row-types/setup.ts'],
    // Processes, because each starts servers of its own. Two more than there are cores: a process waits for two fifths of
    // its time, for the database, a server that starts or a kill that is noticed.
    pool: 'forks',
    maxWorkers: system === 'load' ? 1 : Math.min(availableParallelism(), 4) + 2,
    // Modules that have not changed are not transformed again.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/oriel-test-modules' },
    // The files of a process share its modules, and the server and database of test/world.ts.
    isolate: false,
    sequence: process.argv.includes('--sequence.shuffle.files') ? {} : { sequencer: SlowestFirst },
    // Long enough for a machine that is busy with much else: nothing waits longer than for what it waits for.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // After a minute caches and statements end by themselves, and would pass for ended by what is tested.
    expect: { poll: { timeout: 50_000 } },
  },
});
