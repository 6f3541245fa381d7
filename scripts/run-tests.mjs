/**
 * Runs Vitest, and then the files that failed once more, each alone: a test that only fails while others load the machine
 * does not fail the run, and is listed as unsteady instead.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bin, root } from './install.mjs';

const REPORTER = join(root, 'scripts', 'results-reporter.mjs');
/** If more files than these fail, the reason is not the load of the machine, and a second run would only take time. */
const RETRIED_FILES_MAX = 20;

// A Ctrl-C reaches the children directly, and this process waits until they have ended.
const running = new Set();
let isInterrupted = false;
process.on('SIGINT', () => {
  isInterrupted = true;
});
process.on('SIGTERM', () => {
  isInterrupted = true;
  for (const child of running) child.kill();
});

/**
 * Returns the numbers of tests that passed and failed, what is unsteady, and which files failed. `folder` holds the configuration of Vitest,
 * and `args` are more arguments of the first run.
 */
export async function runTests(folder, args = []) {
  const first = await runVitest(folder, args);
  const failedFiles = [...first.files].filter(([, { failed }]) => failed);
  const unsteady = [];
  if (failedFiles.length > RETRIED_FILES_MAX)
    console.log(
      `\n${failedFiles.length} files failed. More than ${RETRIED_FILES_MAX} are not run a second time.`,
    );
  else
    for (const [file, { error }] of failedFiles) {
      if (isInterrupted) break;
      console.log(`\n— ${file} failed: once more, alone`);
      const second = await runVitest(folder, [file, '--maxWorkers=1']);
      // The last run of a file decides. One that did not report leaves the first result, which is a failure.
      const result = second.files.get(file);
      if (!result) continue;
      first.files.set(file, result);
      if (second.status === 0 && !result.failed) unsteady.push({ file, error });
      else result.failed ||= 1;
    }
  const results = [...first.files.values()];
  const passed = sum(results.map((result) => result.passed));
  let failed = sum(results.map((result) => result.failed));
  // An error that was caught outside of a test belongs to no file, so a second run of a file says nothing of it.
  failed += first.errors.length;
  // Vitest can also fail without any of these: it found no test, or it crashed.
  if (first.status !== 0 && !failedFiles.length && !first.errors.length) failed++;
  const failures = [...first.files].filter(([, result]) => result.failed);
  return { passed, failed, unsteady, failures: failures.map(([file, { error }]) => ({ file, error })) };
}

/** Runs a program, and returns its exit status with what it printed (nothing if `output` is `inherit`). */
export function run(program, args, output, folder) {
  return new Promise((resolve, reject) => {
    const child = spawn(bin(program), args, { cwd: folder, stdio: ['inherit', output, output] });
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

async function runVitest(folder, args) {
  const report = join(folder, 'node_modules', '.cache', 'oriel-test-results.json');
  // A fresh installation has no `.cache` yet.
  mkdirSync(dirname(report), { recursive: true });
  rmSync(report, { force: true });
  process.env.ORIEL_TEST_REPORT = report;
  const reporters = ['--reporter=default', `--reporter=${REPORTER}`];
  const { status } = await run('vitest', ['run', ...args, ...reporters], 'inherit', folder);
  const { files, errors } = readReport(report);
  return { status, errors, files: new Map(files.map(({ file, ...result }) => [file, result])) };
}

function readReport(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    console.error('Vitest wrote no results.');
    return { files: [], errors: [] };
  }
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
