/** A real browser for tests of pages. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { requireHeadlessChromium } from '../../../scripts/chromium.ts';

/** The limit of 30 seconds that Playwright has for each step is too short for a busy machine. */
const PATIENCE_MS = 120_000;

let shared: Promise<Browser> | undefined;

/**
 * A browser for a file. The files of a process share one, because its start takes longer than many tests; closing it closes
 * what this file opened in it. With arguments or another program it is a browser of its own.
 */
export async function openBrowser(args: string[] = [], executablePath?: string): Promise<Browser> {
  if (args.length || executablePath) return patient(await launch(args, executablePath));
  shared ??= launch([]);
  return partOf(await shared);
}

function patient(browser: Browser): Browser {
  const newContext = browser.newContext.bind(browser);
  // This also covers `newPage`, which calls `newContext`.
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  return browser;
}

function partOf(whole: Browser): Browser {
  const contexts = new Set<BrowserContext>();
  const newContext: Browser['newContext'] = async (options) => {
    const context = await whole.newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    contexts.add(context);
    context.once('close', () => contexts.delete(context));
    return context;
  };
  return Object.assign(Object.create(whole) as Browser, {
    newContext,
    async newPage(options?: BrowserContextOptions) {
      const context = await newContext(options);
      const page = await context.newPage();
      page.once('close', () => void context.close());
      return page;
    },
    async close() {
      for (const context of contexts) await context.close();
    },
  });
}

const launch = (args: string[], executablePath = requireHeadlessChromium()) =>
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
