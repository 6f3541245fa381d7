/** The embedded page in browsers that allow or know less, with many rows, with a query that is refused, and what it leaves behind. */
import { pino } from 'pino';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireChromium } from '../../../../../scripts/chromium.ts';
import { openBrowser } from '../../../test/browser.ts';
import { type Embedding, embed, type HostSite, startHost } from '../../../test/embedded-page.ts';
import { withDashboards } from '../../../test/fixture-dashboards.ts';
import { graphical, tabular } from '../../../test/shop-dashboard.ts';
import { createShop } from '../../../test/shops.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let browser: Browser;
let host: HostSite;
let deploymentId: number;
/** Everything that the server logs. */
const logged: string[] = [];
beforeAll(async () => {
  world = await createOwnWorld({
    log: pino({ level: 'trace' }, { write: (line) => void logged.push(line) }),
  });
  browser = await openBrowser();
  host = await startHost();
  deploymentId = await createShop(world);
});
afterAll(async () => {
  await browser?.close();
  await host?.stop();
  await world?.stop();
});

const mint = async () =>
  (await world.admin.generateSession({ body: { deploymentId, externalId: unique('viewer') } })).sessionId;

interface Options {
  by?: Browser;
  query?: string;
  prepare?(context: BrowserContext): Promise<unknown>;
}

async function show(
  dashboard: object,
  { by = browser, query = '', prepare }: Options = {},
): Promise<Embedding> {
  const address = `${world.url}/embed/dashboard/shown${query}#session=${await mint()}`;
  const embedding = await embed(by, host.origin, [address], {
    async prepare(context) {
      await withDashboards({ shown: dashboard })(context);
      await prepare?.(context);
    },
  });
  await embedding.heard('dashboard-loaded');
  return embedding;
}

test('a browser that blocks cookies and storage of others shows the dashboard, and takes renewals', async () => {
  // The program without windows has no such setting.
  const strict = await openBrowser(['--test-third-party-cookie-phaseout'], requireChromium());
  try {
    const embedding = await show(tabular(deploymentId, 'shown'), { by: strict });
    const tried = `(() => {
      document.cookie = 'tried=yes; SameSite=None; Secure';
      try { return [document.cookie, typeof localStorage]; } catch ({ name }) { return [document.cookie, name]; }
    })()`;
    expect(await embedding.frame().evaluate(tried)).toEqual(['', 'SecurityError']);
    expect(await embedding.page.evaluate(tried)).toEqual(['tried=yes', 'object']);
    await embedding.frame().getByRole('heading', { name: 'Orders by name' }).waitFor();
    await embedding.act('renew', { sessionId: await mint() });
    await expect.poll(async () => (await embedding.events('dashboard-loaded')).length).toBe(2);
  } finally {
    await strict.close();
  }
});

test('a browser that does not list the pages around a frame knows its host by the referrer', async () => {
  let replaced = 0;
  const embedding = await show(tabular(deploymentId, 'shown'), {
    // Browsers do not let scripts hide this property.
    prepare: (context) =>
      context.route(/\/embed\/files\/.*\.js$/, async (route) => {
        const response = await route.fetch();
        const parts = (await response.text()).split('location.ancestorOrigins');
        replaced += parts.length - 1;
        return route.fulfill({ response, body: parts.join('undefined') });
      }),
  });
  expect(replaced).toBeGreaterThan(0);
  expect((await embedding.events('ready'))[0]!.origin).toBe(world.url);
  await embedding.act('set-locale', { locale: 'de' });
  await embedding.frame().locator('html[lang=de]').waitFor();
  await embedding.close();
});

test('a table of 10,000 rows scrolls and sorts with few rows in the page', async () => {
  const embedding = await show(tabular(deploymentId, 'shown'), {
    prepare: (context) =>
      context.route(/\/load$/, async (route) => {
        const response = await route.fetch();
        const json = await response.json();
        const [result] = json.results as { data: Record<string, string>[] }[];
        if (result!.data[0]?.['sales.name'])
          result!.data = Array.from({ length: 10_000 }, (_, i) => ({
            ...{ 'sales.name': `Name ${i}`, 'sales.status': 'done' },
            ...{ 'sales.amount': String(i), 'sales.count': '1' },
          }));
        return route.fulfill({ response, json });
      }),
  });
  const frame = embedding.frame();
  const table = frame.getByRole('region', { name: 'Orders by name' });
  const names = async () =>
    (await table.locator('tbody tr td:first-child').allInnerTexts()).filter((text) => text);
  const move = (place: string) =>
    table.evaluate((element, to) => {
      const scrolled = element as unknown as { scrollTop: number; scrollHeight: number };
      scrolled.scrollTop = to === 'end' ? scrolled.scrollHeight : 0;
    }, place);
  expect((await names())[0]).toBe('Name 9999');
  expect(await table.getByRole('table').getAttribute('aria-rowcount')).toBe('10001');
  expect(await table.getByRole('row').count()).toBeLessThan(100);
  await move('end');
  await expect.poll(async () => (await names()).at(-1)).toBe('Name 0');
  expect(await table.getByRole('row').count()).toBeLessThan(100);
  await table.getByRole('button', { name: 'Amount' }).click();
  await expect.poll(async () => (await names()).at(-1)).toBe('Name 9999');
  await move('start');
  await expect.poll(async () => (await names())[0]).toBe('Name 0');
  await embedding.close();
});

test('the token is in no address, in nothing that the browser stores, and in no line of the log', async () => {
  const tokens: string[] = [];
  const embedding = await show(tabular(deploymentId, 'shown'), {
    prepare: async (context) =>
      context.on('response', async (response) => {
        if (response.url().endsWith('/session/token')) tokens.push((await response.json()).token);
      }),
  });
  // In a frame of another site, browsers let it store nothing. Here they would.
  const page = await embedding.context.newPage();
  page.on('request', (request) => embedding.requests.push(request.url()));
  await page.goto(`${world.url}/embed/dashboard/shown#session=${await mint()}`);
  await page.getByRole('heading', { name: 'Orders by name' }).waitFor();
  await expect.poll(() => tokens.length).toBe(2);
  const kept = await page.evaluate(`(async () => {
    const texts = [location.href, document.cookie, document.referrer, JSON.stringify(history.state), window.name];
    for (const storage of [localStorage, sessionStorage]) texts.push(JSON.stringify({ ...storage }));
    texts.push(JSON.stringify(await indexedDB.databases()), JSON.stringify(await caches.keys().catch(() => [])));
    return texts.join('\\n');
  })()`);
  expect(kept).toContain('/embed/dashboard/shown');
  await expect.poll(() => logged.filter((line) => line.includes('/load')).length).toBeGreaterThan(3);
  const places = [kept, embedding.frame().url(), JSON.stringify(await embedding.context.storageState())];
  const text = [...places, ...embedding.requests, ...logged].join('\n');
  for (const token of tokens) expect([token.length > 20, text.includes(token)]).toEqual([true, false]);
  await embedding.close();
});

test('a widget whose query is refused says so in its place, and the others are drawn', async () => {
  const dashboard = tabular(deploymentId, 'shown');
  dashboard.reportSnapshots[1]!.meta.query = { measures: ['sales.nothing'] };
  const embedding = await show(dashboard);
  const frame = embedding.frame();
  const widget = frame.getByRole('group', { name: 'Orders by name' });
  const alert = widget.getByRole('alert');
  expect(await alert.innerText()).toContain('could not be loaded');
  await alert.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await frame.getByRole('group', { name: 'Revenue' }).locator('.figure').innerText()).toBe('$12.25');
  await embedding.close();
});

test('a chart that asks for a list of a billion values fails in its place, and the others are drawn', async () => {
  const dashboard = graphical(deploymentId, 'shown');
  const [bars] = dashboard.reportSnapshots;
  bars!.spec = { ...bars!.spec, signals: [{ name: 'many', update: 'sequence(1e9).length' }] };
  const embedding = await show(dashboard);
  const frame = embedding.frame();
  expect(await frame.getByRole('alert').innerText()).toContain('could not be loaded');
  await frame.getByText('We sold').waitFor();
  await frame.getByRole('tab', { name: 'Two' }).click();
  await frame.getByRole('region', { name: 'Later' }).getByRole('row').first().waitFor();
  await embedding.close();
});

test.each([
  ['en', /^\$\d+$/],
  ['de', /^\d+\s\$$/],
])('axes write the values of a measure as the locale %s does', async (locale, form) => {
  const embedding = await show(graphical(deploymentId, 'shown'), { query: `?locale=${locale}` });
  const labels = embedding.frame().locator('.vega .role-axis-label text');
  await expect.poll(() => labels.count()).toBeGreaterThan(3);
  const texts = await labels.allTextContents();
  // The names of states are those of the other axis.
  const values = texts.filter((text) => /\d/.test(text));
  expect(values.length).toBeGreaterThan(2);
  for (const text of values) expect(text).toMatch(form);
  await embedding.close();
});

test('a browser that is slow to paint shows what came before its first frame', async () => {
  const context = await browser.newContext();
  // Timers that stand in for a frame come late too.
  await context.addInitScript(`(() => {
    const later = setTimeout;
    window.requestAnimationFrame = () => 0;
    window.setTimeout = (run, ms = 0) => later(run, ms > 0 ? ms + 5000 : 0);
  })()`);
  const page = await context.newPage();
  await page.goto(`${world.url}/embed/dashboard/shown`);
  await page.getByRole('link', { name: 'Sign in' }).waitFor();
  await context.close();
});
