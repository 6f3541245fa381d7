/** Installs the npm packages unless what is installed already matches the lock file. */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [major, minor] = process.versions.node.split('.').map(Number);

export function install() {
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`Oriel needs Node 20.19 or later, and this is ${process.versions.node}.`);
  }
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const stamp = join(root, 'node_modules', '.oriel-installed');
  // The lock file that was installed, kept beside what it installed.
  if (read(stamp) === lock) return;
  console.log('Installing packages…');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, lock);
}

/** Runs a command in the root folder; where it fails, so do we. */
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

function read(file) {
  try {
    statSync(file);
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
