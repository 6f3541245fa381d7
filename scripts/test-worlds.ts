/** Runs the tests with random models in many worlds, from a seed that is drawn here and printed. */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';

const TESTS = [
  'packages/semantic/src/plan/random.test.ts',
  'packages/semantic/src/sql/random.test.ts',
  'packages/server/src/domains/queries/random-viewers.test.ts',
];
const seed = process.env.ORIEL_TEST_SEED ?? String(randomInt(1, 1_000_000));
const worlds = process.env.ORIEL_TEST_WORLDS ?? '500';

console.log(`ORIEL_TEST_SEED=${seed} ORIEL_TEST_WORLDS=${worlds}`);
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--testTimeout=3600000', ...TESTS, ...process.argv.slice(2)],
  {
    cwd: join(import.meta.dirname, '..'),
    stdio: 'inherit',
    env: { ...process.env, ORIEL_TEST_SEED: seed, ORIEL_TEST_WORLDS: worlds },
  },
);
process.exitCode = status ?? 1;
