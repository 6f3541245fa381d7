/** Finds the browser for tests and screenshots. Debian's package is installed if it is missing and we are root. */
import { existsSync } from 'node:fs';
import { installDebianPackages } from './debian.ts';

const DEBIAN = '/usr/bin/chromium';

/** Returns the path of the program. */
export function requireChromium(): string {
  const path = process.env.ORIEL_TEST_CHROMIUM || DEBIAN;
  if (!existsSync(path) && path === DEBIAN) installDebianPackages('chromium', 'fonts-liberation');
  if (existsSync(path)) return path;
  throw new Error(
    'Chromium is not installed: install it (`apt-get install chromium`), or set ORIEL_TEST_CHROMIUM to the path of a Chrome or Chromium.',
  );
}
