/** Typing in the model studio with a model of 200 cubes, against typing in an empty CodeMirror. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { createOrielClient } from '../packages/client/src/index.ts';
import { openBrowser } from '../packages/server/test/browser.ts';
import { requireChromium } from '../scripts/chromium.ts';
import { chainedModel } from './data-models/chained-model.ts';
import type { Anchor, Benchmark, Contender, RunOptions, Sample } from './harness/benchmark.ts';
import { ADMIN_KEY, ADMIN_PASSWORD, startOriel } from './harness/oriel.ts';
import { root } from './harness/paths.ts';
import { measureInTurns, median } from './harness/rounds.ts';
import { undoAtEnd } from './harness/undo.ts';

const CUBES = 200;
const ADMIN_EMAIL = 'bench@example.com';
const FILES_PER_REQUEST = 100;
/** The pause between two letters of a fast typist. */
const PAUSE_MS = 90;
const TEXT = '# what a person types';

export const studio: Benchmark = {
  name: 'studio',
  description:
    'typing in the model studio with a model of 200 cubes, from the key to the next frame, against an empty CodeMirror',
  run,
};

async function run(options: RunOptions) {
  const oriel = await startOriel({ settings: { ORIEL_ADMIN_EMAIL: ADMIN_EMAIL, ORIEL_DEMO: 'true' } });
  const client = createOrielClient({ baseUrl: oriel.url, apiKey: ADMIN_KEY });
  const { branchName } = await client.startDevMode({ deploymentId: 1, body: {} });
  const files = [...chainedModel({ cubes: CUBES, views: CUBES / 10 })];
  for (let at = 0; at < files.length; at += FILES_PER_REQUEST) {
    const some = files.slice(at, at + FILES_PER_REQUEST).map(([path, content]) => ({ path, content }));
    await client.updateFiles({ deploymentId: 1, body: { branchName: branchName!, files: some } });
  }
  const browser = await openBrowser([], requireChromium());
  undoAtEnd(() => browser.close());
  const file = files[0]![0];
  const typed = nothingTyped();
  const subject: Contender = {
    name: 'Oriel, model studio',
    measure: typing(
      await openStudio(browser, oriel.url, `branch=${encodeURIComponent(branchName!)}&file=${file}`),
      typed,
    ),
  };
  const bare = await startEmptyEditor();
  const page = await browser.newPage();
  await page.goto(bare);
  const typedBare = nothingTyped();
  const anchor: Anchor = {
    name: 'CodeMirror, empty',
    measure: typing(page, typedBare),
    does: 'a page with an empty CodeMirror with the history, line numbers and YAML. It has no model, completion, checks and worker.',
  };
  const rounds = await measureInTurns(subject, [anchor], { ...options, runUpSeconds: 0 });
  return {
    measured: rounds.measured,
    comparisons: [rounds.compare(anchor, { metric: 'meanMs' })],
    facts: {
      model: `${CUBES} cubes and ${CUBES / 10} views in ${files.length} files`,
      keystroke: `${timesOf(typed)}; asked: under 50 ms`,
      empty: timesOf(typedBare),
      processor: `${costOf(typed)} a key, of the page's main thread, without what it waits for other processes; empty CodeMirror ${costOf(typedBare)}`,
      measures:
        'from the time stamp of the key to the first task after the next frame; the compiler runs meanwhile',
      browser: `Chromium ${browser.version()}`,
    },
  };
}

interface TypingResult {
  /** The times from each key to the next frame, in milliseconds. */
  times: number[];
  /** What the main thread of the page computed meanwhile. */
  processorMs: number;
}

const nothingTyped = (): TypingResult => ({ times: [], processorMs: 0 });

function timesOf({ times }: TypingResult): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) =>
    sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)]!.toFixed(1);
  return `${at(0.5)} ms in the median, ${at(0.95)} ms at the 95th percentile, ${at(0.99)} ms at the 99th, ${at(1)} ms at most, of ${times.length}`;
}

const costOf = ({ times, processorMs }: TypingResult) => `${(processorMs / times.length).toFixed(1)} ms`;

async function openStudio(browser: Browser, url: string, query: string): Promise<Page> {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  await page.goto('/sign-in');
  await page.fill('#username', ADMIN_EMAIL);
  await page.fill('#password', ADMIN_PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL((address) => address.pathname !== '/sign-in');
  await page.goto(`/d/1/admin/models?${query}`);
  await page.getByText(/The model compiles/).waitFor();
  return page;
}

/** What is typed is deleted again, so that the text stays as long as it was. */
function typing(page: Page, typed: TypingResult): Contender['measure'] {
  let isReady = false;
  let processorMs: () => Promise<number>;
  return async (seconds): Promise<Sample> => {
    if (!isReady) {
      await page.locator('.cm-content').click();
      await page.evaluate(NOTE_KEYS);
      processorMs = await clockOf(page);
      isReady = true;
    }
    const end = Date.now() + seconds * 1000;
    await page.evaluate('window.keys.length = 0');
    const before = await processorMs();
    do {
      await page.keyboard.press('Control+End');
      await page.keyboard.press('Enter');
      await page.keyboard.type(TEXT, { delay: PAUSE_MS });
      for (let i = 0; i <= TEXT.length; i++) await page.keyboard.press('Backspace', { delay: PAUSE_MS / 3 });
    } while (Date.now() < end);
    const times = (await page.evaluate('window.keys')) as number[];
    typed.times.push(...times);
    typed.processorMs += (await processorMs()) - before;
    const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length;
    const sorted = times.toSorted((a, b) => a - b);
    return {
      perSecond: 1000 / mean,
      meanMs: mean,
      p50Ms: median(times),
      p99Ms: sorted[Math.floor(sorted.length * 0.99)]!,
    };
  };
}

/** Reads the processor time that the main thread of a page has taken. */
async function clockOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000;
  };
}

const NOTE_KEYS = `window.keys = [];
addEventListener('keydown', ({ timeStamp }) => {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => window.keys.push(performance.now() - timeStamp);
    port2.postMessage(null);
  });
}, true);`;

const EDITOR = `import { history } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { EditorView, lineNumbers } from '@codemirror/view';
new EditorView({ parent: document.body, extensions: [history(), lineNumbers(), yaml()] });`;

async function startEmptyEditor(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: EDITOR, resolveDir: root },
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
  });
  const script = outputFiles[0]!.text;
  const server = createServer((request, response) => {
    const isScript = request.url === '/editor.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript ? script : '<!doctype html><title>Editor</title><body><script src="/editor.js"></script>',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undoAtEnd(async () => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
