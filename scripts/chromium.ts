/** Finds the browser for tests, screenshots and benchmarks. Debian's package is installed if it is missing and we are root. */
import { existsSync } from 'node:fs';
import { installDebianPackages } from './debian.ts';

/** The names of Debian's packages and of their programs. */
const WHOLE = 'chromium';
/** The same engine without what windows need. Tests of pages take a third of the processor time in it. */
const SHELL = 'chromium-headless-shell';

/** Returns the path of a program for tests. The whole browser will do where there is no other. */
export const requireHeadlessChromium = () => given() ?? installed(SHELL) ?? requireChromium();

/** Returns the path of the browser as people use it. */
export function requireChromium(): string {
  const path = given() ?? installed(WHOLE);
  if (path) return path;
  throw new Error(
    'Chromium is not installed: install it (`apt-get install chromium`), or set ORIEL_TEST_CHROMIUM to the path of a Chrome or Chromium.',
  );
}

function given(): string | undefined {
  const path = process.env.ORIEL_TEST_CHROMIUM;
  if (path && !existsSync(path)) throw new Error(`ORIEL_TEST_CHROMIUM is ${path}, which is not there.`);
  return path || undefined;
}

function installed(name: string): string | undefined {
  const path = `/usr/bin/${name}`;
  if (!existsSync(path)) installDebianPackages(name, 'fonts-liberation');
  return existsSync(path) ? path : undefined;
}
