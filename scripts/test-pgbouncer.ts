/** Runs Oriel behind PgBouncer. Debian's package is installed if it is missing and we are root. */
import { spawnSync } from 'node:child_process';
import { root } from './install.mjs';

const isInstalled = () => spawnSync('pgbouncer', ['--version']).status === 0;
const run = (command: string, args: string[], env = {}) =>
  spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }).status;

if (!isInstalled() && process.getuid?.() === 0) {
  run('apt-get', ['install', '--yes', '--no-install-recommends', 'pgbouncer'], {
    DEBIAN_FRONTEND: 'noninteractive',
  });
}
if (isInstalled()) {
  process.exitCode =
    run('npx', ['vitest', 'run', 'acceptance/pgbouncer.check.ts'], { ORIEL_TEST_PGBOUNCER: 'true' }) ?? 1;
} else {
  console.error('PgBouncer is not installed: install it (`apt-get install pgbouncer`), or run this as root.');
  process.exitCode = 1;
}
