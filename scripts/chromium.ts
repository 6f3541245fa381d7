/** Finds the browser for tests and screenshots. Debian's package is installed if it is missing and we are root. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const DEBIAN = '/usr/bin/chromium';

/** Returns the path of the program. */
export function requireChromium(): string {
  const path = process.env.ORIEL_TEST_CHROMIUM || DEBIAN;
  if (!existsSync(path) && path === DEBIAN && process.getuid?.() === 0) install() || (update() && install());
  if (existsSync(path)) return path;
  throw new Error(
    'Chromium is not installed: install it (`apt-get install chromium`), or set ORIEL_TEST_CHROMIUM to the path of a Chrome or Chromium.',
  );
}

const update = () => aptGet('update');
const install = () => aptGet('install', '--yes', '--no-install-recommends', 'chromium', 'fonts-liberation');

function aptGet(...args: string[]) {
  // Another process may be installing the same.
  const { status } = spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=600', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return status === 0;
}
