/** `npm test` runs every check. The last line is `N passed, N failed`. */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bin, install, root } from './install.mjs';
import { areOutdated } from './test-times.mjs';

install();

// A Ctrl-C reaches the checks directly, and this process waits until they have ended.
const running = new Set();
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {
  for (const child of running) child.kill();
});

const results = join(root, 'node_modules', '.cache', 'oriel-test-results.json');
rmSync(results, { force: true });

// Types and lint are checked at the same time as the tests. Their output is shown after the tests. The types are checked in
// one thread: several would do more than twice the work, because each looks at much of the code again.
const others = [
  ['types', run('tsc', ['--noEmit', '--singleThreaded'], 'pipe')],
  ['types of the embedded page', run('tsc', ['--noEmit', '-p', 'packages/viewer'], 'pipe')],
  ['lint', run('biome', ['check', '--error-on-warnings', '.'], 'pipe')],
];
console.log('\n— tests');
const tests = await run('vitest', ['run', ...process.argv.slice(2)], 'inherit');
let { passed, failed } = countTests();
// If the test runner crashed without counting a failure, the run has still failed.
if (tests.status !== 0 && failed === 0) failed++;

for (const [name, check] of others) {
  const { status, output } = await check;
  console.log(`\n— ${name}${status === 0 ? ': passed' : ''}\n${output}`.trimEnd());
  if (status === 0) passed++;
  else failed++;
}

if (areOutdated()) console.log('\nOther tests than before are the slowest: run `npm run update-test-times`.');
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);

function run(program, args, output) {
  return new Promise((resolve, reject) => {
    const child = spawn(bin(program), args, { cwd: root, stdio: ['inherit', output, output] });
    running.add(child);
    const chunks = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => chunks.push(chunk));
    child.once('error', reject);
    child.once('close', (status) => {
      running.delete(child);
      resolve({ status, output: Buffer.concat(chunks).toString() });
    });
  });
}

function countTests() {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(results, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests };
  } catch {
    console.error('the test runner wrote no results');
    return { passed: 0, failed: 0 };
  }
}
