/** What the embedded page asks for, prints, and says while it has nothing to show, in a real browser. */
import type { Browser, BrowserContext, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
beforeAll(async () => {
  // A world of its own, because the tests change its theme.
  world = await createOwnWorld();
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
  query?: string;
  session?: string;
  prepare?(context: BrowserContext): Promise<unknown>;
}

async function show(
  dashboard: object = tabular(deploymentId, 'shown'),
  { query = '', session, prepare }: Options = {},
): Promise<Embedding> {
  const sessionId = session ?? (await mint());
  const address = `${world.url}/embed/dashboard/shown${query}${sessionId && `#session=${sessionId}`}`;
  return embed(browser, host.origin, [address], {
    async prepare(context) {
      await withDashboards({ shown: dashboard })(context);
      await prepare?.(context);
    },
  });
}

describe('on paper', () => {
  test('there are no controls, and every row of a table is inside of its card', async () => {
    const embedding = await show(undefined, { query: '?allowExport=true' });
    const frame = embedding.frame();
    await embedding.heard('dashboard-loaded');
    expect(await frame.getByRole('button', { name: /Status|Options for/ }).count()).toBeGreaterThan(1);
    await embedding.page.emulateMedia({ media: 'print' });
    await expect.poll(() => frame.getByRole('button', { name: /Status|Options for/ }).count()).toBe(0);
    // The card would be too small for its rows.
    await frame.evaluate(`document.querySelector('.cell:has(.table)').style.gridRow = 'span 2'`);
    for (const card of await frame.locator('.card:has(.table)').all()) {
      const [outer, last] = [await card.boundingBox(), await card.locator('tr').last().boundingBox()];
      expect(last!.y + last!.height).toBeLessThanOrEqual(outer!.y + outer!.height + 1);
    }
    await embedding.close();
  });

  test.each(['light', 'dark'])('the %s theme can be read', async (theme) => {
    const embedding = await show(graphical(deploymentId, 'shown'), { query: `?theme=${theme}` });
    const frame = embedding.frame();
    await embedding.heard('dashboard-loaded');
    await embedding.page.emulateMedia({ media: 'print' });
    const { ink, paper, adjust } = (await frame.evaluate(`({
      ink: getComputedStyle(document.querySelector('h1')).color,
      paper: getComputedStyle(document.body).backgroundColor,
      adjust: getComputedStyle(document.body).printColorAdjust,
    })`)) as Record<string, string>;
    const lightness = (color: string) => Math.max(...color.match(/\d+/g)!.map(Number));
    expect(Math.abs(lightness(ink!) - lightness(paper!))).toBeGreaterThan(180);
    // Browsers leave out backgrounds unless they are told that the text needs them.
    expect(adjust).toBe('exact');
    await embedding.close();
  });
});

test('twenty widgets ask once each, and none of them waits for another', async () => {
  const dashboard = tabular(deploymentId, 'shown');
  const { widgets } = dashboard.config;
  const [table] = widgets.filter(({ id }) => id === 'table');
  const [snapshot] = dashboard.reportSnapshots.filter(({ reportId }) => reportId === 2);
  const ids = Array.from({ length: 20 }, (_, i) => i + 1);
  dashboard.config.widgets = ids.map((id) => ({
    ...table!,
    id: `w${id}`,
    position: { x: ((id - 1) % 4) * 3, y: Math.floor((id - 1) / 4) * 4, w: 3, h: 4 },
    config: { reportId: id },
  }));
  dashboard.reportSnapshots = ids.map((id) => ({
    ...snapshot!,
    id,
    reportId: id,
    title: `Table ${id}`,
    meta: { query: { ...snapshot!.meta.query, limit: 100 + id } },
  }));
  const held: Route[] = [];
  const embedding = await show(dashboard, {
    prepare: (context) =>
      context.route(/\/load$/, (route) => (held.length < 19 ? void held.push(route) : route.fallback())),
  });
  // All have asked, though only the last one was answered; and it is drawn.
  await expect.poll(() => embedding.requests.filter((url) => url.endsWith('/load')).length).toBe(20);
  await embedding.frame().getByRole('cell', { name: 'Ada' }).first().waitFor();
  expect(await embedding.events('dashboard-loaded')).toEqual([]);
  await Promise.all(held.map((route) => route.fallback()));
  await embedding.heard('dashboard-loaded');
  expect(embedding.requests.filter((url) => url.endsWith('/load'))).toHaveLength(20);
  expect(embedding.requests.filter((url) => /vega|world/.test(url))).toEqual([]);
  await embedding.close();
});

test('the colours of the account are used, and its logo and fonts are not asked for', async () => {
  const scheme = {
    accentColor: '#0a7d4f',
    backgroundColor: '#fdfaf3',
    foregroundColor: '#111111',
    contrast: 50,
    logoUrl: 'https://assets.invalid/logo.svg',
  };
  const font = { fontRef: 'brand', fontWeight: 400 };
  const fonts = [
    { id: 'brand', family: 'Brand', format: 'woff2', url: 'https://assets.invalid/brand.woff2' },
  ];
  const appTheme = { light: scheme, dark: scheme, typography: { body: font, heading: font, fonts } };
  await world.admin.updateAppConfig({ body: { appTheme } });
  const embedding = await show();
  await embedding.heard('dashboard-loaded');
  const token = (name: string) =>
    embedding.frame().evaluate(`document.documentElement.style.getPropertyValue('${name}')`);
  expect(await token('--background')).toBe('#fdfaf3');
  expect(await token('--accent')).toBe('#0a7d4f');
  const origins = new Set(embedding.requests.map((url) => new URL(url).origin));
  expect([...origins].sort()).toEqual([new URL(world.url).origin, host.origin].sort());
  expect(embedding.errors).toEqual([]);
  await world.admin.updateAppConfig({ body: { appTheme: null } });
  await embedding.close();
});

test('without a session, the page asks for one and then says so', async () => {
  const embedding = await show(undefined, { session: '' });
  await embedding.heard('session-needed');
  await embedding.frame().locator('.notice').waitFor();
  expect(await embedding.events('error')).toEqual([]);
  expect(embedding.requests.filter((url) => url.includes('/api/'))).toEqual([]);
  await embedding.close();
});

test('after a reload of the frame, the page asks for another session', async () => {
  const embedding = await show();
  await embedding.heard('dashboard-loaded');
  await embedding.frame().evaluate('location.reload()');
  await embedding.heard('session-needed');
  await embedding.act('session', { sessionId: await mint() });
  await expect.poll(async () => (await embedding.events('dashboard-loaded')).length).toBe(2);
  await embedding.close();
});

test('a page that is in no frame shows the dashboard too', async () => {
  const context = await browser.newContext({ locale: 'en-US' });
  await withDashboards({ shown: tabular(deploymentId, 'shown') })(context);
  const page = await context.newPage();
  await page.goto(`${world.url}/embed/dashboard/shown#session=${await mint()}`);
  await page.getByRole('heading', { name: 'Orders by name' }).waitFor();
  expect(page.url()).toBe(`${world.url}/embed/dashboard/shown`);
  await context.close();
});

test('the page of the chat says in a frame that there is none, and clears its address', async () => {
  const address = `${world.url}/embed/d/${deploymentId}/chat`;
  const embedding = await embed(browser, host.origin, [
    `${address}?session=${await mint()}&theme=dark`,
    `${address}#session=${await mint()}`,
  ]);
  for (const [index, expected] of [`${address}?theme=dark`, address].entries()) {
    const frame = embedding.frame(index);
    await frame.getByRole('heading', { name: 'There is no chat yet' }).waitFor();
    await expect.poll(() => frame.evaluate('location.href')).toBe(expected);
  }
  expect(embedding.errors).toEqual([]);
  await embedding.close();
});

test('the zone of the address beats that of the dashboard, and an offset is no zone', async () => {
  const dashboard = tabular(deploymentId, 'shown');
  Object.assign(dashboard.config, { settings: { timezone: 'Europe/Vienna' } });
  const zoneFor = async (query: string) => {
    const asked: string[] = [];
    const embedding = await show(dashboard, {
      query,
      prepare: (context) =>
        context.route(/\/load$/, (route) => {
          const { query: queries } = route.request().postDataJSON() as { query: { timezone: string }[] };
          asked.push(...queries.map(({ timezone }) => timezone));
          return route.fallback();
        }),
    });
    await embedding.heard('dashboard-loaded');
    await embedding.close();
    return [...new Set(asked)];
  };
  expect(await zoneFor('?timezone=Asia/Tokyo')).toEqual(['Asia/Tokyo']);
  expect(await zoneFor('?timezone=%2B02:00')).toEqual(['Europe/Vienna']);
});
