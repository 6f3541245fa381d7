/** What charts say about the rows that somebody points at, in a real browser: every number is that of the query. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { whenBuilt } from '../../../test/shops.ts';
import { createWorld, type EmbeddedSession, type World } from '../../../test/world.ts';

const TIME = 'sales.ordered_at';
const AMONG = [{ dimension: TIME, granularity: 'month', dateRange: 'last 6 months' }];
const BY_CATEGORY = {
  measures: ['sales.revenue'],
  dimensions: ['sales.product_category'],
  timeDimensions: AMONG,
};
const x = { field: 'sales__ordered_at__month', type: 'temporal', scale: { type: 'utc' } };
const y = { field: 'sales__revenue', type: 'quantitative' };
const color = { field: 'sales__product_category', type: 'nominal' };
const points = (mark: object | string, more: object = {}) => ({ mark, encoding: { x, y, ...more } });

const CHARTS = {
  stacked: { query: BY_CATEGORY, spec: points('area', { color }) },
  lines: { query: BY_CATEGORY, spec: points({ type: 'line', point: true }, { color }) },
  trail: {
    query: { measures: ['sales.revenue'], timeDimensions: AMONG },
    spec: points('trail', { size: y }),
  },
  upright: {
    query: { measures: ['sales.revenue'], timeDimensions: AMONG },
    spec: { mark: { type: 'area', orient: 'horizontal' }, encoding: { y: { ...x, sort: null }, x: y } },
  },
  layered: {
    query: { measures: ['sales.revenue', 'sales.orders'], timeDimensions: AMONG },
    spec: {
      layer: [
        { mark: 'line', encoding: { x, y } },
        { mark: 'line', encoding: { x, y: { ...y, field: 'sales__orders' } } },
      ],
      resolve: { scale: { y: 'independent' } },
    },
  },
  faceted: {
    query: { ...BY_CATEGORY, dimensions: ['sales.product_category', 'sales.channel'] },
    spec: {
      facet: { column: { field: 'sales__channel', type: 'nominal' } },
      spec: { width: 150, height: 150, ...points('line', { color }) },
    },
  },
  added: { query: BY_CATEGORY, spec: points('line', { y: { ...y, aggregate: 'sum' } }) },
};
type Name = keyof typeof CHARTS;

let world: World;
let browser: Browser;
let viewer: EmbeddedSession;
let publicId: string;
beforeAll(async () => {
  world = await createWorld({ ORIEL_DEMO: 'true' });
  await whenBuilt(world, 1);
  browser = await openBrowser();
  viewer = await world.embedded(session());
  const { id: workbookId } = await world.admin.createWorkbook({
    deploymentId: 1,
    body: { name: 'Pointing' },
  });
  const widgets = [];
  for (const [i, [id, { query, spec }]] of Object.entries(CHARTS).entries()) {
    const meta = { chart: { kind: 'vega', spec } };
    const body = { name: id, title: id, jsonQuery: JSON.stringify(query), meta };
    const { id: reportId } = await world.admin.createReport({ deploymentId: 1, body });
    const position = { x: 0, y: i * 6, w: 12, h: 6 };
    widgets.push({ id, type: 'CHART' as const, position, config: { reportId } });
  }
  const config = { widgets, settings: { timezone: 'UTC' } };
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

type Row = Record<string, string>;
async function rowsOf(query: object): Promise<Row[]> {
  const response = await fetch(`${world.url}/query/api/v1/deployments/1/load`, {
    method: 'POST',
    headers: { authorization: `Bearer ${viewer.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: { ...query, timezone: 'UTC' } }),
  });
  return ((await response.json()) as { data: Row[] }).data;
}

interface ShownDashboard {
  page: Page;
  chart(title: string): Locator;
  /** What the page asked the server for. */
  asked: object[];
}

async function show(id = publicId, options: Parameters<Browser['newContext']>[0] = {}, query = '') {
  const { sessionId } = await world.admin.generateSession({ body: session() });
  const context = await browser.newContext({
    viewport: { width: 1240, height: 900 },
    locale: 'en-US',
    ...options,
  });
  const page = await context.newPage();
  const asked: ShownDashboard['asked'] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/load')) asked.push(...request.postDataJSON().query);
  });
  await page.goto(`${world.url}/embed/dashboard/${id}?session=${sessionId}${query}`);
  const chart = (title: string) => page.getByRole('group', { name: title, exact: true });
  return { page, chart, asked };
}

/** Where charts draw: one box for each of their cells. */
async function cellsOf(chart: Locator) {
  await chart.locator('.vega-frame svg').waitFor();
  await chart.scrollIntoViewIfNeeded();
  const boxes = await chart
    .locator('.vega-frame .role-frame.root, .vega-frame .mark-group.cell')
    .locator('> g > path.background')
    .all();
  const cells = await Promise.all(boxes.map(async (box) => (await box.boundingBox())!));
  return cells.length > 1 ? cells.slice(1) : cells;
}

const tooltipOf = async (page: Page) =>
  (await page.evaluate(
    `[...document.querySelectorAll('.tooltip dl > div')].map((line) => [...line.children].map((part) => part.textContent))`,
  )) as string[][];

const money = (value: string) => {
  const options = {
    style: 'currency',
    currency: 'USD',
    maximumFractionDigits: Number(value) >= 1000 ? 0 : 2,
  };
  return new Intl.NumberFormat('en-US', options as Intl.NumberFormatOptions).format(Number(value));
};
const month = (time: string) =>
  new Intl.DateTimeFormat('en-US', { year: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    Date.parse(`${time.slice(0, 10)}T00:00:00Z`),
  );
const monthsOf = (rows: Row[]) => [...new Set(rows.map((row) => row[`${TIME}.month`]!))].sort();

/** The month that is nearest to a place between the first and the last one. */
function nearestMonth(rows: Row[], share: number) {
  const times = monthsOf(rows).map((each) => ({ each, at: Date.parse(each.slice(0, 10)) }));
  const at = times[0]!.at + share * (times.at(-1)!.at - times[0]!.at);
  return times.sort((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at))[0]!.each;
}

const SHARES = [0.01, 0.12, 0.33, 0.47, 0.62, 0.77, 0.93, 0.99];
const sorted = (lines: string[][]) => lines.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));

/** What the tooltip has to say about a month: the month, and each series of it. */
const expected: Record<Name, (rows: Row[], cell: number) => string[][]> = {
  stacked: (rows) => rows.map((row) => [row['sales.product_category']!, money(row['sales.revenue']!)]),
  lines: (rows) => rows.map((row) => [row['sales.product_category']!, money(row['sales.revenue']!)]),
  trail: ([row]) => [['Revenue', money(row!['sales.revenue']!)]],
  upright: ([row]) => [['Revenue', money(row!['sales.revenue']!)]],
  layered: ([row]) => [
    ['Revenue', money(row!['sales.revenue']!)],
    ['Orders', Number(row!['sales.orders']).toLocaleString('en-US')],
  ],
  faceted: (rows, cell) => {
    const channel = [...new Set(rows.map((row) => row['sales.channel']!))].sort()[cell]!;
    return [
      ['Channel', channel],
      ...rows
        .filter((row) => row['sales.channel'] === channel)
        .map((row) => [row['sales.product_category']!, money(row['sales.revenue']!)]),
    ];
  },
  added: (rows) => [
    ['Sum of Revenue', money(String(rows.reduce((sum, row) => sum + Number(row['sales.revenue']), 0)))],
  ],
};

test.each(Object.keys(CHARTS) as Name[])(
  '%s: every place shows the values of the nearest month',
  async (name) => {
    const { page, chart } = await show();
    const rows = await rowsOf(CHARTS[name].query);
    expect(monthsOf(rows)).toHaveLength(6);
    const cells = await cellsOf(chart(name));
    expect(cells).toHaveLength(
      name === 'faceted' ? new Set(rows.map((row) => row['sales.channel'])).size : 1,
    );
    for (const [i, cell] of cells.entries()) {
      for (const share of SHARES) {
        // Beside the shapes too, high above them and at their feet.
        for (const across of [0.05, 0.5, 0.95]) {
          const [dx, dy] = name === 'upright' ? [across, 1 - share] : [share, across];
          await page.mouse.move(cell.x + dx * cell.width, cell.y + dy * cell.height);
          const at = nearestMonth(rows, share);
          const [head, ...lines] = await tooltipOf(page);
          expect(head).toEqual(['Ordered', month(at)]);
          const these = rows.filter((row) => row[`${TIME}.month`] === at);
          expect(sorted(lines)).toEqual(sorted(expected[name](these, i)));
        }
      }
    }
    await page.context().close();
  },
);

test('a click leads to the month and the series that it is on', async () => {
  const { page, chart, asked } = await show();
  const rows = await rowsOf(BY_CATEGORY);
  const categories = [...new Set(rows.map((row) => row['sales.product_category']!))].sort();
  const [cell] = await cellsOf(chart('stacked'));
  for (const share of [0.01, 0.47, 0.99]) {
    for (const across of [0.98, 0.7]) {
      const place = [cell!.x + share * cell!.width, cell!.y + across * cell!.height] as const;
      await page.mouse.move(...place);
      const chosen = await page.locator('.tooltip .chosen dt').innerText();
      await page.mouse.click(...place);
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('row').nth(1).waitFor();
      const query = asked.at(-1) as {
        filters: { values: string[] }[];
        timeDimensions: { dateRange: string[] }[];
      };
      const at = nearestMonth(rows, share);
      expect(query.timeDimensions[0]!.dateRange[0]).toBe(at.slice(0, 10));
      expect(query.filters[0]!.values).toEqual([chosen]);
      expect(await dialog.getByRole('heading').innerText()).toBe(`stacked: ${month(at)}, ${chosen}`);
      // The last category is at the foot of the stack.
      if (across === 0.98) expect(chosen).toBe(categories.at(-1));
      await page.keyboard.press('Escape');
    }
  }
  await page.context().close();
});

test('keys go through the months and their series, and lead to the details', async () => {
  const { page, chart, asked } = await show();
  const rows = await rowsOf(BY_CATEGORY);
  const months = monthsOf(rows);
  const keys = chart('lines').getByRole('slider');
  await keys.focus();
  for (const at of months) {
    await page.keyboard.press('ArrowRight');
    const [head, ...lines] = await tooltipOf(page);
    expect(head).toEqual(['Ordered', month(at)]);
    expect(sorted(lines)).toEqual(
      sorted(
        expected.lines(
          rows.filter((row) => row[`${TIME}.month`] === at),
          0,
        ),
      ),
    );
    expect(await keys.getAttribute('aria-valuetext')).toContain(
      `Ordered: ${month(at)}, ${lines[0]!.join(': ')}`,
    );
  }
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  const chosen = await page.locator('.tooltip .chosen dt').innerText();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('row').nth(1).waitFor();
  expect(asked.at(-1)).toMatchObject({
    filters: [{ member: 'sales.product_category', operator: 'equals', values: [chosen] }],
    timeDimensions: [{ dateRange: [months[0]!.slice(0, 10), expect.anything()] }],
  });
  await page.context().close();
});

test('a finger shows the values first, and the details when it touches again', async () => {
  const { page, chart } = await show(publicId, { viewport: { width: 390, height: 844 }, hasTouch: true });
  const rows = await rowsOf(BY_CATEGORY);
  const [cell] = await cellsOf(chart('lines'));
  const touch = () => page.touchscreen.tap(cell!.x + 0.62 * cell!.width, cell!.y + 0.5 * cell!.height);
  await touch();
  expect((await tooltipOf(page))[0]).toEqual(['Ordered', month(nearestMonth(rows, 0.62))]);
  const { x: left, width } = (await page.locator('.tooltip').boundingBox())!;
  expect(left).toBeGreaterThanOrEqual(0);
  expect(left + width).toBeLessThanOrEqual(390);
  expect(await page.getByRole('dialog').count()).toBe(0);
  await touch();
  await page.getByRole('dialog').getByRole('row').nth(1).waitFor();
  await page.context().close();
});

test('the first chart of the demo shows each month, in a picture too', async () => {
  const { page, chart } = await show('DemoCommerce');
  const revenue = chart('Revenue over time');
  const [cell] = await cellsOf(revenue);
  const query = { measures: ['sales.revenue'], timeDimensions: [] };
  const pictures = [];
  const seen = new Set<string>();
  for (const share of [0.02, 0.25, 0.5, 0.75, 0.98]) {
    await page.mouse.move(cell!.x + share * cell!.width, cell!.y + 0.8 * cell!.height);
    const lines = await tooltipOf(page);
    expect(lines.map(([label]) => label)).toEqual(['Ordered', 'Revenue']);
    const begin = new Date(`${lines[0]![1]} 1 UTC`);
    const end = new Date(Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1, 0));
    const dateRange = [begin, end].map((each) => each.toISOString().slice(0, 10));
    const [row] = await rowsOf({ ...query, timeDimensions: [{ dimension: TIME, dateRange }] });
    expect(lines[1]![1]).toBe(money(row!['sales.revenue'] ?? '0'));
    seen.add(lines[0]![1]!);
    pictures.push((await revenue.screenshot()).toString('base64'));
  }
  expect(seen.size).toBe(5);
  // The line and the points of the tooltip are at another place in each.
  expect(new Set(pictures).size).toBe(5);
  await page.context().close();
});
