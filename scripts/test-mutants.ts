/**
 * `npm run test:mutants`: breaks one guarantee at a time in a copy of the project, and expects the tests to notice.
 * With words after `--`, it tries only the mutants whose names contain one of them.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyProject } from './copy-project.ts';
import { type Mutant, mutants } from './mutants.ts';

const root = join(import.meta.dirname, '..');
const words = process.argv.slice(2);
const chosen = mutants.filter(({ name }) => !words.length || words.some((word) => name.includes(word)));
const copy = mkdtempSync(join(tmpdir(), 'oriel-mutants-'));
process.on('SIGINT', () => process.exit(130));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));

copyProject(root, copy);
const files = [...new Set(chosen.flatMap(({ tests }) => tests))];
console.log(`The tests of ${chosen.length} mutants, on the code as it is:`);
const sound = runTests(files);
const isSound = sound.failed === 0 && sound.passed > 0;
console.log(`  ${sound.passed} passed, ${sound.failed} failed\n`);

const survivors = isSound ? chosen.filter((mutant) => !isNoticed(mutant)) : chosen;
if (isSound) console.log(`\n${chosen.length - survivors.length} of ${chosen.length} mutants were noticed.`);
else console.log('The mutants can not be tested while these tests fail.');
process.exit(survivors.length || !chosen.length ? 1 : 0);

function isNoticed(mutant: Mutant): boolean {
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
  const { failed, passed, names, output } = runTests(mutant.tests);
  writeFileSync(path, original);
  // A test file that does not load does not show what its tests would notice.
  if (failed + passed === 0) {
    console.log(`✗ ${mutant.name}: no test ran\n${output}`);
    return false;
  }
  if (failed) console.log(`✓ ${mutant.name}: ${failed} failed, such as “${names[0]}”`);
  else console.log(`✗ ${mutant.name}: SURVIVED, ${passed} tests passed`);
  return failed > 0;
}

interface Outcome {
  passed: number;
  failed: number;
  names: string[];
  output: string;
}

function runTests(tests: string[]): Outcome {
  const results = join(copy, 'results.json');
  rmSync(results, { force: true });
  const args = ['run', ...tests, '--reporter=json', `--outputFile=${results}`];
  const { stdout, stderr } = spawnSync(join(root, 'node_modules', '.bin', 'vitest'), args, {
    cwd: copy,
    encoding: 'utf8',
  });
  const output = (stdout + stderr).slice(-2000);
  try {
    const { numPassedTests, testResults } = JSON.parse(readFileSync(results, 'utf8')) as {
      numPassedTests: number;
      testResults: { assertionResults: { status: string; fullName: string }[] }[];
    };
    const failures = testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter(({ status }) => status === 'failed'),
    );
    const names = failures.map(({ fullName }) => fullName);
    return { passed: numPassedTests, failed: failures.length, names, output };
  } catch {
    return { passed: 0, failed: 0, names: [], output };
  }
}
