/**
 * `npm test` runs every check of types, lint and tests. `npm run test:system` runs the tests that load the machine on
 * purpose (`*.system.ts`). The last line of both is `N passed, N failed`.
 */
import { install, root } from './install.mjs';
import { run, runTests } from './run-tests.mjs';
import { areOutdated } from './test-times.mjs';

install();
const args = process.argv.slice(2);
const isSystem = args[0] === '--system';
if (isSystem) {
  args.shift();
  process.env.ORIEL_TEST_SYSTEM = 'true';
  // `npm test` compares the row types.
  process.env.ORIEL_TEST_ROW_TYPES = 'false';
}

// Types and lint are checked at the same time as the tests. Their output is shown after the tests. The types are checked in
// one thread: several would do more than twice the work, because each looks at much of the code again.
const others = isSystem
  ? []
  : [
      ['types', run('tsc', ['--noEmit', '--singleThreaded'], 'pipe', root)],
      ['types of the embedded page', run('tsc', ['--noEmit', '-p', 'packages/viewer'], 'pipe', root)],
      ['lint', run('biome', ['check', '--error-on-warnings', '.'], 'pipe', root)],
    ];
console.log('\n— tests');
let { passed, failed, unsteady } = await runTests(root, args);

for (const [name, check] of others) {
  const { status, output } = await check;
  console.log(`\n— ${name}${status === 0 ? ': passed' : ''}\n${output}`.trimEnd());
  if (status === 0) passed++;
  else failed++;
}

if (unsteady.length) {
  console.log('\n— unsteady: these files failed, and passed when they ran alone');
  for (const { file, error } of unsteady) console.log(`\n${file}\n${error}`);
}
if (!isSystem && areOutdated())
  console.log('\nOther tests than before are the slowest: run `npm run update-test-times`.');
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
