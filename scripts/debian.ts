/** Installs Debian's packages of programs that tests need, if we are root. */
import { spawnSync } from 'node:child_process';

export function installDebianPackages(...names: string[]): void {
  if (process.getuid?.() !== 0) return;
  const install = () => aptGet('install', '--yes', '--no-install-recommends', ...names);
  // A fresh machine has no package lists yet.
  if (!install() && aptGet('update')) install();
}

function aptGet(...args: string[]) {
  // Another process may be installing the same.
  const { status } = spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=600', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return status === 0;
}
