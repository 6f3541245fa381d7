/**
 * The app in a real browser: how soon its pages are there, and whether they keep up with dragging, scrolling and
 * typing.
 */
import type { BrowserContext, Page } from 'playwright-core';
import { openBrowser } from '../packages/server/test/browser.ts';
import { requireChromium } from '../scripts/chromium.ts';
import { type Loads, startBarePages } from './app/bare-page.ts';
import { framesDuring, noteAnswers, noteWhenThere } from './app/in-page.ts';
import {
  DEPLOYMENT_ID,
  MEMBERS,
  makeDashboard,
  openContext,
  openLongTable,
  openManyMembers,
  ROWS,
  signIn,
  WIDGETS,
} from './app/scenes.ts';
import type {
  Anchor,
  Benchmark,
  Comparison,
  Contender,
  ContenderResult,
  RunOptions,
} from './harness/benchmark.ts';
import { type Oriel, startOriel } from './harness/oriel.ts';
import { measureInTurns } from './harness/rounds.ts';
import { undoAtEnd } from './harness/undo.ts';

export const app: Benchmark = {
  name: 'app',
  description: 'pages of the app beside bare pages of their size, and frames of drags and scrolls',
  scenes: ['home', 'explore', 'drag', 'scroll', 'search', 'fields'],
  run,
};

/** A page of the app, and what shows that it is there. */
const PAGES = {
  home: { path: `/d/${DEPLOYMENT_ID}`, ready: 'a.item-name' },
  explore: { path: `/d/${DEPLOYMENT_ID}/explore`, ready: '.explore-start .source-card' },
};
/** The target, as a share of an empty page: more than 50 frames a second where that page draws 60. */
const FRAMES_ASKED = 50 / 60;
const FRAME_MS = 1000 / 60;
const LETTERS = 'member 4321 of';

async function run(options: RunOptions) {
  const oriel = await startOriel({ settings: { ORIEL_DEMO: 'true' } });
  await whenBuilt(oriel);
  const browser = await openBrowser([], requireChromium());
  undoAtEnd(() => browser.close());
  const state = await signIn(browser, oriel);
  const open = () => openContext(browser, state);
  const isOn = (scene: string) => !options.scene || options.scene === scene;
  const names = (Object.keys(PAGES) as (keyof typeof PAGES)[]).filter(isOn);
  const loads: Record<string, Loads> = {};
  for (const name of names) loads[name] = await loadsOf(open, oriel, name);
  const bare = await startBarePages(loads);

  const measured: ContenderResult[] = [];
  const comparisons: Comparison[] = [];
  for (const name of names) {
    const address = oriel.url + PAGES[name].path;
    const pages = [address, PAGES[name].ready, `${bare}/${name}/`] as const;
    for (const isWarm of [false, true]) {
      const { subject, anchor } = pageLoads(open, name, isWarm, ...pages);
      const rounds = await measureInTurns(subject, [anchor], { ...options, runUpSeconds: 0 });
      measured.push(...rounds.measured);
      comparisons.push(rounds.compare(anchor, { metric: 'meanMs', asked: { atMost: 2 } }));
    }
  }

  const context = await open();
  for (const { subject, anchor } of [
    ...(isOn('drag') ? [await dragging(context, oriel, await makeDashboard(oriel))] : []),
    ...(isOn('scroll') ? [await scrolling(context, oriel)] : []),
  ]) {
    const rounds = await measureInTurns(subject, [anchor], { ...options, runUpSeconds: 0 });
    measured.push(...rounds.measured);
    comparisons.push(rounds.compare(anchor, { asked: { atLeast: FRAMES_ASKED } }));
  }
  const palette = isOn('search') && (await searchingEverything(context, oriel));
  const members = isOn('fields') && (await searchingMembers(context, oriel));
  return {
    measured,
    comparisons,
    facts: {
      ...(palette && {
        'search all': `${words(palette)} after the server's answer; asked: at most two frames, ${(2 * FRAME_MS).toFixed(0)} ms`,
      }),
      ...(members && {
        'find field': `${words(members)} after each letter, among ${MEMBERS} fields; asked: at most 50 ms`,
      }),
      ...(names.length && {
        scripts: names
          .map(
            (name) =>
              `${name} ${(sum(loads[name]!.scripts.map(({ length }) => length)) / 1000).toFixed(0)} KB`,
          )
          .join(', '),
      }),
      browser: `Chromium ${browser.version()} without a GPU`,
    },
  };
}

const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
const words = (times: number[]) => {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => `${(sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(0)} ms`;
  return `median ${at(0.5)}, at most ${at(1)} of ${times.length}`;
};

/** The demo is built some seconds after the start. */
async function whenBuilt({ url, headers }: Oriel) {
  for (let attempt = 0; ; attempt++) {
    const reply = await fetch(`${url}/query/api/v1/deployments/${DEPLOYMENT_ID}/load`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query: { measures: ['sales.revenue'] } }),
    });
    if (reply.ok) return;
    if (attempt === 240) throw new Error(`/load answered ${reply.status}.`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

type Open = () => Promise<BrowserContext>;

async function loadsOf(open: Open, oriel: Oriel, name: keyof typeof PAGES): Promise<Loads> {
  const context = await open();
  const page = await context.newPage();
  const loads: Loads = { scripts: [], styles: [], replies: [] };
  const reading: Promise<unknown>[] = [];
  page.on('response', (response) => {
    const kind = response.request().resourceType();
    const keep = async () => {
      const text = await response.text();
      if (kind === 'script') loads.scripts.push(text);
      else if (kind === 'stylesheet') loads.styles.push(text);
      else if (kind === 'fetch') loads.replies.push(text.length);
    };
    reading.push(keep().catch(() => {}));
  });
  await page.goto(oriel.url + PAGES[name].path);
  await page.locator(PAGES[name].ready).first().waitFor();
  await Promise.all(reading);
  await context.close();
  return loads;
}

/** Cold is a new profile for each load; warm is one that has loaded the page before. */
function pageLoads(
  open: Open,
  name: string,
  isWarm: boolean,
  address: string,
  ready: string,
  bareAddress: string,
): { subject: Contender; anchor: Anchor } {
  const measureOf = (url: string, selector: string) => {
    let kept: Promise<BrowserContext> | undefined;
    const once = async () => {
      if (!isWarm || !kept) kept = open();
      const context = await kept;
      const page = await context.newPage();
      await page.addInitScript(noteWhenThere(selector));
      await page.goto(url);
      await page.waitForFunction('window.doneMs', undefined, { polling: 50 });
      const ms = Number(await page.evaluate('window.doneMs'));
      await (isWarm ? page : context).close();
      return ms;
    };
    return async (seconds: number) => {
      const times: number[] = [];
      for (const end = performance.now() + seconds * 1000; performance.now() < end || !times.length; )
        times.push(await once());
      const meanMs = sum(times) / times.length;
      return { perSecond: 1000 / meanMs, meanMs };
    };
  };
  const how = isWarm ? 'warm' : 'cold';
  return {
    subject: { name: `${name}, ${how}`, measure: measureOf(address, ready) },
    anchor: {
      name: `bare page, ${how}`,
      measure: measureOf(bareAddress, 'ul.ready'),
      does: 'a page with as many scripts, styles and replies, whose scripts are read and not run. It has no session, no database and no query.',
    },
  };
}

/** The anchor: the same actions on an empty page. */
async function emptyPage(context: BrowserContext, act: (page: Page, seconds: number) => Promise<void>) {
  const page = await context.newPage();
  await page.setContent('<!doctype html><div style="height:3000000px">empty</div>');
  return framesOf(page, act);
}

const framesOf =
  (page: Page, act: (page: Page, seconds: number) => Promise<void>): Contender['measure'] =>
  async (seconds) => {
    await page.bringToFront();
    return { perSecond: await framesDuring(page, () => act(page, seconds)) };
  };

const DOES = 'an empty page while the mouse or the wheel does the same.';

async function dragging(context: BrowserContext, { url }: Oriel, workbookId: number) {
  const page = await context.newPage();
  await page.goto(`${url}/d/${DEPLOYMENT_ID}/workbooks/${workbookId}/dashboard`);
  await page.waitForFunction(`document.querySelectorAll('.slot').length === ${WIDGETS}`);
  await page.locator('.slot .vega svg').first().waitFor();
  await page.waitForFunction("!document.querySelector('.slot .skeleton')");
  const act = async (at: Page, seconds: number) => {
    await at.evaluate('scrollTo(0, 0)');
    const slot = at.locator('.slot').first();
    const box = (await slot.count()) ? await slot.boundingBox() : null;
    const from = { x: (box?.x ?? 300) + 40, y: (box?.y ?? 200) + 12 };
    await at.mouse.move(from.x, from.y);
    await at.mouse.down();
    const begun = performance.now();
    for (let i = 0; performance.now() - begun < seconds * 1000; i++)
      await at.mouse.move(from.x + 300 + 280 * Math.sin(i / 15), from.y + 220 + 200 * Math.cos(i / 11));
    await at.keyboard.press('Escape');
    await at.mouse.up();
  };
  return {
    subject: { name: `drag, ${WIDGETS} widgets`, measure: framesOf(page, act) },
    anchor: { name: 'empty page, drag', measure: await emptyPage(context, act), does: DOES },
  };
}

async function scrolling(context: BrowserContext, oriel: Oriel) {
  const page = await context.newPage();
  await openLongTable(page, oriel);
  const act = async (at: Page, seconds: number) => {
    const box = await at
      .locator('.result-table')
      .boundingBox({ timeout: 200 })
      .catch(() => null);
    await at.mouse.move((box?.x ?? 300) + 100, (box?.y ?? 300) + 100);
    const begun = performance.now();
    for (let i = 0; performance.now() - begun < seconds * 1000; i++)
      await at.mouse.wheel(0, i % 200 < 100 ? 400 : -400);
  };
  return {
    subject: { name: `scroll, ${ROWS} rows`, measure: framesOf(page, act) },
    anchor: { name: 'empty page, scroll', measure: await emptyPage(context, act), does: DOES },
  };
}

/** Types the text, and awaits the answer to each letter before the next one. */
async function typed(page: Page, text: string): Promise<number[]> {
  for (let i = 0; i < text.length; i++) {
    await page.keyboard.type(text[i]!);
    await page.waitForFunction(`window.answers.length > ${i}`, undefined, { timeout: 5000 }).catch(() => {});
  }
  return (await page.evaluate('window.answers')) as number[];
}

async function searchingEverything(context: BrowserContext, { url }: Oriel) {
  const page = await context.newPage();
  await page.goto(url + PAGES.home.path);
  await page.locator(PAGES.home.ready).first().waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search, or choose a command' }).waitFor();
  await page.evaluate(noteAnswers('.palette-list', '/workspace'));
  return typed(page, 'revenue');
}

async function searchingMembers(context: BrowserContext, oriel: Oriel) {
  const page = await context.newPage();
  await openManyMembers(page, oriel);
  await page.getByRole('searchbox', { name: 'Search fields' }).focus();
  await page.evaluate(noteAnswers('.member-list'));
  return typed(page, LETTERS);
}
