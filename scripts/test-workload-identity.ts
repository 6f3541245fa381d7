/**
 * Lets the SDK of AWS for Python exchange the token of an engine, as any program with a workload identity does. It comes from
 * PyPI, into a folder of its own; needs Python 3.9 or later with pip.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';

const PACKAGE = 'boto3==1.40.0';
const modules = join(root, 'node_modules', '.cache', PACKAGE.replace('==', '-'));
// Engines run as a user of their own, who may not read a Python in somebody's home.
const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';

const run = (command: string, args: string[], env = {}) =>
  spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }).status;
const isInstalled = () =>
  spawnSync(python, ['-c', 'import boto3'], { env: { ...process.env, PYTHONPATH: modules } }).status === 0;

if (!isInstalled()) {
  console.log(`Installing ${PACKAGE} into ${modules}`);
  run('python3', [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--target',
    modules,
    PACKAGE,
  ]);
}
if (isInstalled()) {
  process.exitCode =
    run('npx', ['vitest', 'run', 'packages/server/test/workload-identity.check.ts'], {
      ORIEL_TEST_BOTO3: modules,
      ORIEL_TEST_BOTO3_PYTHON: python,
    }) ?? 1;
} else {
  console.error(`${PACKAGE} cannot be installed here: it needs Python 3.9 or later, with pip.`);
  process.exitCode = 1;
}
