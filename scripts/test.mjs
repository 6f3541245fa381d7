/** `npm test`: every check there is. Ends with the line `N passed, N failed`. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bin, install, root } from './install.mjs';

install();

const results = join(root, 'node_modules', '.cache', 'oriel-test-results.json');
rmSync(results, { force: true });

const checks = [
  ['types', 'tsc', ['--noEmit']],
  ['lint', 'biome', ['check', '--error-on-warnings', '.']],
  ['tests', 'vitest', ['run', ...process.argv.slice(2)]],
];

let passed = 0;
let failed = 0;
for (const [name, program, args] of checks) {
  console.log(`\n— ${name}`);
  const { status } = spawnSync(bin(program), args, { cwd: root, stdio: 'inherit' });
  if (name === 'tests') countTests();
  else if (status === 0) passed++;
  // A runner that broke down without counting a failure has failed all the same.
  if (status !== 0 && (name !== 'tests' || failed === 0)) failed++;
}

console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);

function countTests() {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(results, 'utf8'));
    passed += numPassedTests;
    failed += numFailedTests;
  } catch {
    console.error('the test runner wrote no results');
  }
}
