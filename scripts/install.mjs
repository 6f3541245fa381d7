/** Installs the npm packages unless they were installed since the lock file changed. */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import '../packages/server/node-version.js';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

export function install() {
  // npm writes the inner lock file at the end of an installation.
  const asked = changedAt('package-lock.json');
  const installed = changedAt('node_modules/.package-lock.json');
  if (installed >= asked) return;
  console.log('Installing packages…');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}

/** Runs a command in the root folder. If it fails, this process fails too. */
export function run(command, args, env = process.env) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env });
  if (error) fail(`${command} could not be run: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

export const bin = (name) => join(root, 'node_modules', '.bin', name);

export function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Returns zero if there is no such file. */
function changedAt(file) {
  return statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
