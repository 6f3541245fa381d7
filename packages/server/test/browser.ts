/** A real browser for tests of pages. */
import { type Browser, chromium } from 'playwright-core';
import { requireHeadlessChromium } from '../../../scripts/chromium.ts';

/** The limit of 30 seconds that Playwright has for each step is too short for a busy machine. */
const PATIENCE_MS = 120_000;

/** One browser for a whole file. Closing it removes its profile. */
export async function openBrowser(
  args: string[] = [],
  executablePath = requireHeadlessChromium(),
): Promise<Browser> {
  const browser = await launch(args, executablePath);
  const newContext = browser.newContext.bind(browser);
  // It is called by `newPage` too.
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  return browser;
}

const launch = (args: string[], executablePath: string) =>
  chromium.launch({
    executablePath,
    timeout: PATIENCE_MS,
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
      ...args,
    ],
  });

export const PHONE = { width: 360, height: 740 };
export const DESKTOP = { width: 960, height: 680 };
