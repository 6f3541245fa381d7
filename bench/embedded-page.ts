/** A cold load of the demo dashboard in a real browser, against a page that draws the same charts with inline data. */
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { COMMERCE } from '../packages/server/src/domains/dashboards/demo-charts.ts';
import { openBrowser } from '../packages/server/test/browser.ts';
import { requireChromium } from '../scripts/chromium.ts';
import { startHostPages } from './embed/host-pages.ts';
import type { Anchor, Benchmark, Contender, RunOptions, Sample } from './harness/benchmark.ts';
import { type Oriel, startOriel } from './harness/oriel.ts';
import { root } from './harness/paths.ts';
import { measureInTurns } from './harness/rounds.ts';
import { undoAtEnd } from './harness/undo.ts';

const DEPLOYMENT_ID = 1;
const PUBLIC_ID = 'DemoCommerce';

export const embeddedPage: Benchmark = {
  name: 'embedded-page',
  description:
    'a cold load of the demo dashboard in Chromium, against a page with the same charts and inline data',
  run,
};

async function run(options: RunOptions) {
  const oriel = await startOriel({ settings: { ORIEL_DEMO: 'true' } });
  const browser = await openBrowser([], requireChromium());
  undoAtEnd(() => browser.close());
  const charts = await inlineCharts(oriel);
  const files = ['vega/build/vega.min.js', 'vega-lite/build/vega-lite.min.js'];
  const host = await startHostPages(
    charts,
    files.map((file) => join(root, 'node_modules', file)),
  );
  const dashboard: Contender = {
    name: 'Oriel, /embed/dashboard',
    measure: repeated(async () => {
      const address = await addressOf(oriel);
      return (await load(browser, `${host}/frame?address=${encodeURIComponent(address)}`)).doneMs;
    }),
  };
  const inline: Anchor = {
    name: 'Vega-Lite, inline',
    measure: repeated(async () => (await load(browser, `${host}/inline`)).doneMs),
    does: `one page with vega.min.js and vega-lite.min.js, gzipped, and the ${charts.length} charts of the dashboard with their rows inside. It has no frame, session, query, figure, table and map.`,
  };
  const rounds = await measureInTurns(dashboard, [inline], { ...options, runUpSeconds: 0 });
  const frame = `${host}/frame?address=`;
  const whole = await load(browser, frame + encodeURIComponent(await addressOf(oriel)));
  const plain = await load(browser, frame + encodeURIComponent(await addressOf(oriel)), ['kpi', 'table']);
  return {
    measured: rounds.measured,
    comparisons: [rounds.compare(inline, { metric: 'meanMs', asked: { atMost: 2 } })],
    facts: {
      'first chart': `after ${Math.round(whole.firstMs)} of ${Math.round(whole.doneMs)} ms in one load`,
      charts: `${kilobytes(whole.scriptBytes)} of script, gzipped; asked: at most 220 KB`,
      'no charts': `${kilobytes(plain.scriptBytes)} of script, gzipped, for figures, tables and filters; asked: at most 45 KB`,
      browser: `Chromium ${browser.version()}, a new profile for each load`,
    },
  };
}

const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} KB`;

/** The specs of the demo, with rows in place of the name of the data. */
async function inlineCharts(oriel: Oriel): Promise<object[]> {
  const charts = COMMERCE.filter(({ kind }) => kind === 'vega');
  return Promise.all(
    charts.map(async ({ query, spec }) => {
      const rows = await rowsOf(oriel, query);
      const named = rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([member, value]) => [member.replaceAll('.', '__'), value]),
        ),
      );
      return { ...spec, width: 'container', height: 300, data: { values: named } };
    }),
  );
}

/** The demo is built some seconds after the start. */
async function rowsOf({ url, headers }: Oriel, query: object): Promise<Record<string, unknown>[]> {
  for (let attempt = 0; ; attempt++) {
    const reply = await fetch(`${url}/query/api/v1/deployments/${DEPLOYMENT_ID}/load`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    if (reply.ok) return ((await reply.json()) as { data: Record<string, unknown>[] }).data;
    if (attempt === 120)
      throw new Error(`/load answered ${reply.status}: ${(await reply.text()).slice(0, 300)}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function addressOf({ url, headers }: Oriel): Promise<string> {
  const userAttributes = [{ name: 'region', value: 'EU' }];
  const body = {
    deploymentId: DEPLOYMENT_ID,
    externalId: 'ann',
    embedTenantName: 'acme-corp',
    userAttributes,
  };
  const reply = await fetch(`${url}/api/v1/embed/generate-session`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`generate-session answered ${reply.status}.`);
  const { sessionId } = (await reply.json()) as { sessionId: string };
  return `${url}/embed/dashboard/${PUBLIC_ID}#session=${sessionId}`;
}

interface PageLoad {
  /** From the navigation to the last and to the first chart. */
  doneMs: number;
  firstMs: number;
  /** Of all scripts of the embedded page, as they were sent. */
  scriptBytes: number;
}

/** Loads a page without anything that was kept before. `kinds` leaves only charts of these kinds in the dashboard. */
async function load(browser: Browser, address: string, kinds?: string[]): Promise<PageLoad> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 960 }, locale: 'en-US' });
  try {
    if (kinds) {
      await context.route(/\/api\/v1\/embed\/dashboard\//, async (route) => {
        const response = await route.fetch();
        return route.fulfill({ response, json: onlyKinds(await response.json(), kinds) });
      });
    }
    const page = await context.newPage();
    await page.addInitScript(NOTE_FIRST_CHART);
    await page.goto(address);
    await page.waitForFunction('window.doneMs', undefined, { polling: 50 });
    const doneMs = Number(await page.evaluate('window.doneMs'));
    const frame = page.frames()[1];
    if (!frame) return { doneMs, firstMs: doneMs, scriptBytes: 0 };
    const begun = Number(await page.evaluate('performance.timeOrigin'));
    const first = Number(await frame.evaluate('window.firstChartAt ?? 0'));
    const scriptBytes = Number(await frame.evaluate(SCRIPT_BYTES));
    return { doneMs, firstMs: Math.max(0, first - begun), scriptBytes };
  } finally {
    await context.close();
  }
}

interface PublishedDashboard {
  config: { widgets: { type: string; config: { reportId: number } }[] };
  reportSnapshots: { reportId: number; kind: string }[];
}
function onlyKinds(dashboard: PublishedDashboard, kinds: string[]): PublishedDashboard {
  const kept = new Set(
    dashboard.reportSnapshots.filter(({ kind }) => kinds.includes(kind)).map(({ reportId }) => reportId),
  );
  const widgets = dashboard.config.widgets.filter(
    ({ type, config }) => type !== 'CHART' || kept.has(config.reportId),
  );
  return { ...dashboard, config: { ...dashboard.config, widgets } };
}

const NOTE_FIRST_CHART = `new MutationObserver(() => {
  if (!window.firstChartAt && document.querySelector('.vega svg .mark-group'))
    window.firstChartAt = performance.timeOrigin + performance.now();
}).observe(document, { childList: true, subtree: true })`;
const SCRIPT_BYTES = `performance.getEntriesByType('resource')
  .filter(({ name }) => name.endsWith('.js')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`;

/** Loads one page after the other until the time is over. */
const repeated =
  (act: () => Promise<number>) =>
  async (seconds: number): Promise<Sample> => {
    const times: number[] = [];
    for (const end = performance.now() + seconds * 1000; performance.now() < end || !times.length; )
      times.push(await act());
    const meanMs = times.reduce((sum, time) => sum + time, 0) / times.length;
    return { perSecond: 1000 / meanMs, meanMs };
  };
