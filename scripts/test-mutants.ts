/**
 * `npm run test:mutants`: breaks one guarantee at a time in a copy of the project, and expects the tests to notice.
 * With words after `--`, it tries only the mutants whose names contain one of them. A mutant that makes the tests hang
 * does not count as noticed: it is reported, and its test needs a time limit of its own.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killDatabase } from '../acceptance/database-processes.ts';
import { startTestPostgres } from '../packages/server/test/test-postgres.ts';
import { copyProject } from './copy-project.ts';
import { root } from './install.mjs';
import { mutants } from './mutants/index.ts';
import type { Mutant } from './mutants/mutant.ts';
import { runWithin } from './run-within.ts';

const START_LIMIT_MS = 5 * 60_000;
const FILE_LIMIT_MS = 5 * 60_000;
/** A mutant may make a test wait for something that never comes. Shorter than in `npm test`, so that it ends soon. */
const TEST_LIMIT_MS = 3 * 60_000;
/** How many mutants are tried at once, each in a copy of its own: a short test run often waits, for example for a start. */
const AT_ONCE = 3;

const words = process.argv.slice(2);
const chosen = mutants.filter(({ name }) => !words.length || words.some((word) => name.includes(word)));
if (!chosen.length) {
  console.error(`No name of a mutant contains ${words.join(' or ')}.`);
  process.exit(1);
}
const temporary = mkdtempSync(join(tmpdir(), 'oriel-mutants-'));
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }));
// The user of the databases must be able to enter.
chmodSync(temporary, 0o711);
// One for all, because most of the time of a short test run went into making a server.
const postgres = await startTestPostgres(join(temporary, 'postgres'));
process.once('SIGINT', () => void end(130));
process.once('SIGTERM', () => void end(143));
const copies = Array.from({ length: AT_ONCE }, (_, i) => makeCopy(join(temporary, String(i))));

const files = [...new Set(chosen.flatMap(({ tests }) => tests))];
console.log(`The tests of ${chosen.length} mutants, on the code as it is:`);
const sound = await runTests(copies[0]!, files);
const isSound = sound.failed === 0 && sound.passed > 0;
console.log(`  ${sound.passed} passed, ${sound.failed} failed\n`);

let noticed = 0;
const queue = isSound ? [...chosen] : [];
await Promise.all(
  copies.map(async (copy) => {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift())
      if (await isNoticed(copy, mutant)) noticed++;
  }),
);
if (isSound) console.log(`\n${noticed} of ${chosen.length} mutants were noticed.`);
else console.log(`The mutants can not be tested while these tests fail:\n  ${sound.names.join('\n  ')}`);
await end(noticed < chosen.length ? 1 : 0);

async function end(code: number) {
  await postgres.stop();
  process.exit(code);
}

function makeCopy(copy: string): string {
  // The databases of its tests are in `tmp`, so that all of them are found.
  mkdirSync(join(copy, 'tmp'), { recursive: true });
  for (const folder of [copy, join(copy, 'tmp')]) chmodSync(folder, 0o711);
  copyProject(root, copy);
  return copy;
}

async function isNoticed(copy: string, mutant: Mutant): Promise<boolean> {
  const path = join(copy, mutant.file);
  const original = readFileSync(path, 'utf8');
  const parts = original.split(mutant.from);
  if (parts.length !== 2) {
    console.log(
      `✗ ${mutant.name}: ${mutant.file} contains its text ${parts.length - 1} times, but must contain it once`,
    );
    return false;
  }
  writeFileSync(path, parts.join(mutant.to));
  let outcome = await runTests(copy, mutant.tests, { isFirstFailureEnough: true, hasRowTypes: false });
  // Few mutants change what a statement returns, and the compiler takes longer to tell the row types than most tests.
  if (!outcome.failed && outcome.passed && !outcome.isTimedOut)
    outcome = await runTests(copy, mutant.tests, { isFirstFailureEnough: true });
  writeFileSync(path, original);
  const { failed, passed, names, output, isTimedOut } = outcome;
  if (isTimedOut) {
    console.log(`✗ ${mutant.name}: the tests HANG, and were ended\n${output}`);
    return false;
  }
  // A test file that does not load does not show what its tests would notice.
  if (failed + passed === 0) {
    console.log(`✗ ${mutant.name}: no test ran\n${output}`);
    return false;
  }
  if (failed) console.log(`✓ ${mutant.name}: noticed by “${names[0]}”`);
  else console.log(`✗ ${mutant.name}: SURVIVED, ${passed} tests passed`);
  return failed > 0;
}

interface Outcome {
  passed: number;
  failed: number;
  names: string[];
  output: string;
  isTimedOut: boolean;
}

async function runTests(
  copy: string,
  tests: string[],
  { isFirstFailureEnough = false, hasRowTypes = true } = {},
): Promise<Outcome> {
  const results = join(copy, 'results.json');
  rmSync(results, { force: true });
  const args = [
    'run',
    ...tests,
    ...(isFirstFailureEnough ? ['--bail=1'] : []),
    `--testTimeout=${TEST_LIMIT_MS}`,
    `--hookTimeout=${TEST_LIMIT_MS}`,
    '--reporter=json',
    '--reporter=default',
    `--outputFile.json=${results}`,
    // Only one file differs from the run before.
    '--experimental.fsModuleCache',
  ];
  const limitMs = START_LIMIT_MS + tests.length * FILE_LIMIT_MS;
  const vitest = join(root, 'node_modules', '.bin', 'vitest');
  const run = await runWithin(limitMs, vitest, args, {
    cwd: copy,
    env: {
      ...process.env,
      TMPDIR: join(copy, 'tmp'),
      ORIEL_TEST_DATABASE_URL: postgres.url,
      ORIEL_TEST_ROW_TYPES: String(hasRowTypes),
      // Other tests do not start the server as a process of its own.
      ORIEL_TEST_PROGRAM: String(tests.some((test) => test.startsWith('acceptance/'))),
    },
  });
  const { isTimedOut } = run;
  // A test that killed its server, or was killed itself, leaves a database without a parent.
  if (isTimedOut) await killDatabase(copy);
  const output = run.output.slice(-2000);
  try {
    const { numPassedTests, testResults } = JSON.parse(readFileSync(results, 'utf8')) as {
      numPassedTests: number;
      testResults: { assertionResults: { status: string; fullName: string }[] }[];
    };
    const failures = testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter(({ status }) => status === 'failed'),
    );
    const names = failures.map(({ fullName }) => fullName);
    return { passed: numPassedTests, failed: failures.length, names, output, isTimedOut };
  } catch {
    return { passed: 0, failed: 0, names: [], output, isTimedOut };
  }
}
