/** Runs the tests with random inputs, each with many of them, from a seed that is drawn here and printed. */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';

const TESTS = [
  'packages/semantic/src/plan/random.test.ts',
  'packages/semantic/src/sql/random.test.ts',
  'packages/server/src/domains/queries/random-viewers.test.ts',
  'packages/semantic/src/fuzz.test.ts',
  'packages/server/src/domains/embed-sessions/atomicity.test.ts',
  'packages/server/src/domains/scim/scim.test.ts',
  'packages/server/src/platform/git/like-git.system.ts',
  'packages/server/test/access-model.test.ts',
  'packages/server/test/session-model.test.ts',
];
const seed = process.env.ORIEL_TEST_SEED ?? String(randomInt(1, 1_000_000));
const worlds = process.env.ORIEL_TEST_WORLDS ?? '500';
/** The factor for the number of inputs, for tests that draw other things than worlds. */
const runs = process.env.ORIEL_TEST_RUNS ?? '4';

console.log(`ORIEL_TEST_SEED=${seed} ORIEL_TEST_WORLDS=${worlds} ORIEL_TEST_RUNS=${runs}`);
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--testTimeout=3600000', ...TESTS, ...process.argv.slice(2)],
  {
    cwd: join(import.meta.dirname, '..'),
    stdio: 'inherit',
    env: { ...process.env, ORIEL_TEST_SEED: seed, ORIEL_TEST_WORLDS: worlds, ORIEL_TEST_RUNS: runs },
  },
);
process.exitCode = status ?? 1;
