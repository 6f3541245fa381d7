/** A real browser for tests of pages. */
import { type Browser, chromium } from 'playwright-core';
import { requireChromium } from '../../../scripts/chromium.ts';

/** One browser for a whole file. Closing it removes its profile. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: requireChromium(),
    headless: true,
    // The sandbox of Chromium does not run as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

export const PHONE = { width: 360, height: 740 };
export const DESKTOP = { width: 960, height: 680 };
