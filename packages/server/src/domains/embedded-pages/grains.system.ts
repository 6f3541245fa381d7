/** Charts under each time grain, in a real browser: every bar is a bucket of the query, as wide and as high as it is there. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { whenBuilt } from '../../../test/shops.ts';
import { createWorld, type EmbeddedSession, type World } from '../../../test/world.ts';

const TIME = 'operations.ordered_at';
const LATE = 'operations.late_count';
const COUNT = { field: 'operations__late_count', type: 'quantitative' };
const RANGE = ['2025-12-01', '2026-05-31'];
const by = (granularity: string) => ({
  measures: [LATE],
  timeDimensions: [{ dimension: TIME, granularity, dateRange: RANGE }],
});
const bars = (x: object, y: object = COUNT, more: object = {}) => ({
  mark: 'bar',
  encoding: { x, y, ...more },
});
const MONTHS = { field: 'operations__ordered_at__month', timeUnit: 'utcyearmonth' };

/** Specs as authors write them, each with a unit of time of its own. */
const CHARTS = {
  'by name': { query: by('month'), spec: bars({ ...MONTHS, type: 'ordinal' }) },
  added: {
    query: by('day'),
    spec: bars(
      { field: 'operations__ordered_at__day', timeUnit: 'utcyearmonth', type: 'temporal' },
      { ...COUNT, aggregate: 'sum' },
    ),
  },
  binned: { query: by('month'), spec: bars({ ...MONTHS, timeUnit: 'binnedutcyearmonth', type: 'temporal' }) },
  seasons: {
    query: by('month'),
    spec: bars({ ...MONTHS, timeUnit: 'utcmonth', type: 'ordinal' }, { ...COUNT, aggregate: 'sum' }),
  },
};

let world: World;
let browser: Browser;
let viewer: EmbeddedSession;
let publicId: string;
beforeAll(async () => {
  world = await createWorld({ ORIEL_DEMO: 'true' });
  await whenBuilt(world, 1);
  browser = await openBrowser();
  viewer = await world.embedded(session());
  const { id: workbookId } = await world.admin.createWorkbook({ deploymentId: 1, body: { name: 'Grains' } });
  const grain = { member: TIME, grains: ['week', 'month', 'quarter'], default: 'month' };
  const widgets: object[] = [
    { id: 'grain', type: 'TIME_GRAIN', position: { x: 0, y: 0, w: 12, h: 2 }, config: grain },
  ];
  for (const [i, [id, { query, spec }]] of Object.entries(CHARTS).entries()) {
    const meta = { chart: { kind: 'vega', spec } };
    const body = { name: id, title: id, jsonQuery: JSON.stringify(query), meta };
    const { id: reportId } = await world.admin.createReport({ deploymentId: 1, body });
    widgets.push({ id, type: 'CHART', position: { x: 0, y: 2 + i * 6, w: 12, h: 6 }, config: { reportId } });
  }
  const config = { widgets, settings: { timezone: 'UTC' } } as never;
  const published = await world.admin.publishDashboard({
    deploymentId: 1,
    workbookId,
    body: { config, allowEmbed: true },
  });
  publicId = published.publicId;
  const access = { allowEmbed: true, allEmbedUsers: true, action: 'read' as const };
  await world.admin.updateEmbedAccess({ deploymentId: 1, workbookId, body: access });
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

const session = () => ({
  deploymentId: 1,
  externalId: 'ada',
  embedTenantName: 'acme-corp',
  userAttributes: [{ name: 'region', value: 'EU' }],
});

async function show(id: string): Promise<Page> {
  const { sessionId } = await world.admin.generateSession({ body: session() });
  const context = await browser.newContext({ viewport: { width: 1240, height: 900 }, locale: 'en-US' });
  const page = await context.newPage();
  await page.goto(`${world.url}/embed/dashboard/${id}?session=${sessionId}`);
  return page;
}

const chartOf = (page: Page, title: string) => page.getByRole('group', { name: title, exact: true });

/** Clicks, and waits for the rows of the grain. */
async function choose(page: Page, grain: string, title: string) {
  await page.getByRole('button', { name: grain, exact: true }).click();
  await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
  await chartOf(page, title).locator('.vega-frame svg').waitFor();
}

interface Bucket {
  from: string;
  value: number;
}

async function bucketsOf(granularity: string, dateRange: string | string[]): Promise<Bucket[]> {
  const query = {
    measures: [LATE],
    timeDimensions: [{ dimension: TIME, granularity, dateRange }],
    timezone: 'UTC',
  };
  const response = await fetch(`${world.url}/query/api/v1/deployments/1/load`, {
    method: 'POST',
    headers: { authorization: `Bearer ${viewer.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data } = (await response.json()) as { data: Record<string, string>[] };
  return data.map((row) => ({
    from: row[`${TIME}.${granularity}`]!.slice(0, 10),
    value: Number(row[LATE]),
  }));
}

/** Browsers differ in the spaces around the dash. */
const plain = (text: string) => text.replaceAll(/\s/g, ' ');

const written = (from: string, grain: string) => {
  const begin = new Date(`${from}T00:00:00Z`);
  const options = { timeZone: 'UTC', dateStyle: 'medium' } as const;
  if (grain === 'quarter') return `Q${begin.getUTCMonth() / 3 + 1} ${begin.getUTCFullYear()}`;
  if (grain === 'month')
    return new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', year: 'numeric', month: 'short' }).format(
      begin,
    );
  const end = new Date(Number(begin) + 6 * 86_400_000);
  return plain(new Intl.DateTimeFormat('en-US', options).formatRange(begin, end));
};

/** What the arrow keys tell about each bar, from the first to the last. */
async function toldBy(page: Page, chart: Locator): Promise<string[][]> {
  const keys = chart.getByRole('slider');
  await keys.focus();
  await page.keyboard.press('Home');
  const told: string[][] = [];
  for (let count = Number(await keys.getAttribute('aria-valuemax')), i = 0; i < count; i++) {
    const lines = page.locator('.tooltip dd');
    told.push((await lines.allInnerTexts()).slice(0, 2).map(plain));
    await page.keyboard.press('ArrowRight');
  }
  return told;
}

/** What a shape can be asked in the page. */
interface ShapeElement {
  getBoundingClientRect(): { x: number; width: number; height: number };
}

const boxesOf = (chart: Locator) =>
  chart.locator('.vega-frame .mark-rect.role-mark path').evaluateAll((paths) =>
    paths.map((path) => {
      const { x, width, height } = (path as never as ShapeElement).getBoundingClientRect();
      return { x, width, height };
    }),
  );

test.each(['week', 'quarter'])('the demo by %s: each bar is that of the query', async (grain) => {
  const page = await show('DemoOpsBoard');
  const chart = chartOf(page, 'Late deliveries over time');
  await choose(page, grain[0]!.toUpperCase() + grain.slice(1), 'Late deliveries over time');
  const buckets = await bucketsOf(grain, 'last 12 months');
  expect(buckets.length).toBeGreaterThan(grain === 'week' ? 50 : 3);
  await expect.poll(async () => (await boxesOf(chart)).length).toBe(buckets.length);
  const told = (await toldBy(page, chart)).filter(([, value]) => value !== '0');
  expect(told).toEqual(
    buckets.filter(({ value }) => value).map(({ from, value }) => [written(from, grain), String(value)]),
  );
  // As high as the value and as wide as the bucket, side by side.
  const boxes = (await boxesOf(chart)).toSorted((a, b) => a.x - b.x);
  const highest = Math.max(...boxes.map(({ height }) => height));
  const most = Math.max(...buckets.map(({ value }) => value));
  for (const [i, { x, width, height }] of boxes.entries()) {
    expect(height / highest).toBeCloseTo(buckets[i]!.value / most, 1);
    const next = boxes[i + 1];
    if (next) expect(Math.abs(x + width - next.x)).toBeLessThan(2.5);
  }
  await page.context().close();
});

test.each(['Week', 'Quarter'])('specs with units of their own are right by %s too', async (name) => {
  const grain = name.toLowerCase();
  const page = await show(publicId);
  await choose(page, name, 'by name');
  const buckets = await bucketsOf(grain, RANGE);
  const expected = buckets.map(({ from, value }) => [written(from, grain), String(value)]);
  for (const title of ['by name', 'added', 'binned']) {
    const chart = chartOf(page, title);
    await expect.poll(async () => (await boxesOf(chart)).length).toBe(buckets.length);
    expect((await toldBy(page, chart)).toSorted()).toEqual(expected.toSorted());
    expect(await chart.locator('.vega-frame').innerText()).not.toContain('year-month');
  }
  // Weeks do not fit into months of all years, so this chart keeps its own.
  const months = await bucketsOf('month', RANGE);
  const seasons = (await toldBy(page, chartOf(page, 'seasons'))).map((told) => Number(told.at(-1)));
  expect(seasons.toSorted()).toEqual(months.map(({ value }) => value).toSorted());
  await page.context().close();
});
