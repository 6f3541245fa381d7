/**
 * `npm test` checks types and lint, and runs the tests that need no process but their own (`*.test.ts`); with words, only
 * the files whose paths hold one of them, and the lint of what has changed. `npm run test:system` runs what starts
 * processes and browsers, or loads the machine on purpose (`*.system.ts`). The last line of both is `N passed, N failed`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { install, root } from './install.mjs';
import { run, runTests } from './run-tests.mjs';
import { areOutdated } from './test-times.mjs';

install();
const args = process.argv.slice(2);
const isSystem = args[0] === '--system';
if (isSystem) args.shift();
const isPart = args.some((arg) => !arg.startsWith('-'));
const began = Date.now();

// Types and lint are checked at the same time as the tests. Their output is shown after the tests.
const others = isSystem ? [] : [...types(), ['lint', run('biome', lintArgs(), 'pipe', root)]];
console.log('\n— tests');
let { passed, failed, unsteady, failures } = isSystem
  ? await runSystem()
  : await runTests(root, [...args, ...fewWorkers()]);

for (const [name, check] of others) {
  const { status, output } = await check;
  console.log(`\n— ${name}${status === 0 ? ': passed' : ''}\n${output}`.trimEnd());
  if (status === 0) {
    passed++;
  } else {
    failed++;
    failures.push({ file: name, error: output.trim().slice(-2000) });
  }
}

if (unsteady.length) {
  console.log('\n— unsteady: these files failed, and passed when they ran alone');
  for (const { file, error } of unsteady) console.log(`\n${file}\n${error}`);
}
if (failures.length) {
  // Print the failures last, because a long log is read from its end.
  console.log('\n— failed');
  for (const { file, error } of failures) console.log(`\n${file}\n${error}`);
}
if (!isSystem && !isPart && areOutdated())
  console.log('\nOther tests than before are the slowest: run `npm run update-test-times`.');
console.log(`\n${Math.round((Date.now() - began) / 1000)} seconds`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);

function git(...list) {
  return execFileSync('git', list, { cwd: root, encoding: 'utf8' }).trim().split('\n');
}

/**
 * Checks the types in one thread: several would do more than twice the work, because each checks much of the code
 * again. What an earlier run knows about unchanged files is cached.
 */
function types() {
  const check = (name, project) => {
    const file = join(root, 'node_modules', '.cache', `oriel-types-${name}.tsbuildinfo`);
    const kept = ['--incremental', '--tsBuildInfoFile', file];
    return run('tsc', ['--noEmit', '--singleThreaded', '-p', project, ...kept], 'pipe', root);
  };
  return [
    ['types', check('server', '.')],
    ['types of the embedded page', check('viewer', 'packages/viewer')],
    ['types of the app', check('app', 'packages/app')],
  ];
}

function lintArgs() {
  const check = ['check', '--error-on-warnings', '--no-errors-on-unmatched'];
  if (!isPart) return [...check, '.'];
  const changed = [
    ...git('diff', '--name-only', 'HEAD'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
  const files = changed.filter((file) => file && existsSync(join(root, file)));
  return [...check, ...(files.length ? files : ['package.json'])];
}

/** For a few files one process is the fastest, because each loads the whole server, and the compiler needs the other core. */
function fewWorkers() {
  if (!isPart || args.some((arg) => arg.startsWith('--maxWorkers'))) return [];
  const words = args.filter((arg) => !arg.startsWith('-'));
  const names = git('ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts');
  const count = names.filter((name) => words.some((word) => name.includes(word))).length;
  return count <= 8 ? ['--maxWorkers=1'] : [];
}

/** First what starts processes, and then, without anything beside it, what loads the machine. */
async function runSystem() {
  // `npm test` compares the row types.
  process.env.ORIEL_TEST_ROW_TYPES = 'false';
  const sum = { passed: 0, failed: 0, unsteady: [], failures: [] };
  for (const part of ['processes', 'load']) {
    process.env.ORIEL_TEST_SYSTEM = part;
    const result = await runTests(root, [...args, '--passWithNoTests']);
    sum.passed += result.passed;
    sum.failed += result.failed;
    sum.unsteady.push(...result.unsteady);
    sum.failures.push(...result.failures);
  }
  if (!sum.passed && !sum.failed) sum.failed = 1;
  return sum;
}
