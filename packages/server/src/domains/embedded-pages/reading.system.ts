/** What the embedded page says is right, whole, and where its reader looks for it: in a real browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { withDashboards } from '../../../test/fixture-dashboards.ts';
import { BARS, tabular } from '../../../test/shop-dashboard.ts';
import { createShop } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let browser: Browser;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  browser = await openBrowser();
  deploymentId = await createShop(world);
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

type Report = { kind: string; title: string; query: object; spec: object };

/** A dashboard of these reports, two in a row, below the filters of the shop. */
function dashboardOf(reports: Report[]) {
  const shop = tabular(deploymentId, 'shown');
  const controls = shop.config.widgets.filter(({ type }) => type === 'FILTER' || type === 'TIME_GRAIN');
  const charts = reports.map((_, i) => ({
    id: `chart-${i}`,
    type: 'CHART',
    position: { x: (i % 2) * 6, y: 3 + Math.floor(i / 2) * 4, w: 6, h: 4 },
    config: { reportId: i + 1 },
  }));
  return {
    ...shop,
    config: { ...shop.config, widgets: [...controls, ...charts] },
    reportSnapshots: reports.map(({ query, ...report }, i) => ({
      id: i + 1,
      reportId: i + 1,
      versionNumber: 1,
      name: report.title,
      ...report,
      meta: { query },
    })),
  };
}

async function show(reports: Report[], { query = '', width = 1280, now = '' } = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, locale: 'en-US' });
  await withDashboards({ shown: dashboardOf(reports) })(context);
  const body = { deploymentId, externalId: unique('viewer') };
  const { sessionId } = await world.admin.generateSession({ body });
  const page = await context.newPage();
  if (now) await page.clock.setFixedTime(new Date(now));
  await page.goto(`${world.url}/embed/dashboard/shown?session=${sessionId}${query}`);
  await page.locator('.grid').waitFor();
  await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
  return page;
}

const AMOUNTS = {
  measures: ['sales.amount', 'sales.count'],
  dimensions: ['sales.name', 'sales.status'],
  order: { 'sales.amount': 'desc' },
  limit: 2,
};
const table = (title: string, query: object): Report => ({
  kind: 'table',
  title,
  query,
  spec: { totals: true },
});
const footOf = (page: Page, title: string) =>
  page.getByRole('region', { name: title }).locator('tfoot td').allInnerTexts();

test('a total is that of the query, and else says of how many rows it is', async () => {
  const only = (member: string, operator: string, values: string[]) => [{ member, operator, values }];
  const page = await show([
    table('Largest', AMOUNTS),
    table('Done', { ...AMOUNTS, filters: only('sales.status', 'equals', ['done']) }),
    table('Dear', { ...AMOUNTS, filters: only('sales.amount', 'gt', ['6']) }),
  ]);
  expect(await footOf(page, 'Largest')).toEqual(['Total', '', '$43.75', '5']);
  expect(await footOf(page, 'Done')).toEqual(['Total', '', '$32.25', '3']);
  expect(await footOf(page, 'Dear')).toEqual(['Total of 2 shown', '', '$30.50', '2']);
  await page.context().close();
});

const february = (format?: object): Report => ({
  kind: 'kpi',
  title: 'February',
  query: {
    measures: ['sales.amount'],
    timeDimensions: [{ dimension: 'sales.ordered_at', dateRange: ['2024-02-01', '2024-02-29'] }],
  },
  spec: {
    measure: 'sales.amount',
    comparison: {
      periodComparison: { timeDimension: 'sales.ordered_at', offset: { amount: 1, unit: 'month' } },
    },
    ...(format ? { format } : {}),
  },
});

test('a figure names both periods, and the change of a rate is in points', async () => {
  const page = await show([february(), february({ type: 'percent' })]);
  expect(await page.locator('.periods').first().innerText()).toBe('Feb 2024, compared with Jan 2024');
  expect(await page.locator('.chip').allInnerTexts()).toEqual(['▼ -59.8%', '▼ -1,825 pts']);
  await page.context().close();
});

test('a period that is not over is compared with as much of the earlier one', async () => {
  const at = async (now: string) => {
    const page = await show([february()], { now });
    const texts = await Promise.all(
      ['.change', '.periods'].map((selector) => page.locator(selector).innerText()),
    );
    await page.context().close();
    return texts.map((text) => text.replaceAll(/\s/g, ' '));
  };
  expect(await at('2024-02-10T08:30:00Z')).toEqual([
    '▲ +16.7% from $10.50',
    'Feb 1 – 10, 2024, compared with Jan 1 – 10, 2024, until 8:30 AM',
  ]);
  // The only order of those days came a minute later.
  expect(await at('2024-02-10T07:59:00Z')).toEqual([
    'Nothing to compare with',
    'Feb 1 – 10, 2024, compared with Jan 1 – 10, 2024, until 7:59 AM',
  ]);
});

test('the filters in force are on paper', async () => {
  const preset = encodeURIComponent(JSON.stringify({ value: ['new', 'done'] }));
  const range = encodeURIComponent(
    JSON.stringify({ value: ['2024-01-01', '2024-03-31'], operator: 'between' }),
  );
  const page = await show([table('Largest', AMOUNTS)], {
    query: `&f_sales.status=${preset}&f_sales.ordered_at=${range}`,
  });
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('.in-force > div').allInnerTexts()).toEqual([
    expect.stringMatching(/^Status:? new, done$/),
    expect.stringMatching(/^Period:? Jan\s–\sMar 2024$/),
  ]);
  await expect.poll(() => page.getByRole('button').filter({ hasText: 'new' }).isVisible()).toBe(false);
  await page.context().close();
});

const map = (region: string): Report => ({
  kind: 'map',
  title: 'Map',
  query: {
    measures: ['sales.amount'],
    dimensions: ['sales.region'],
    filters: [{ member: 'sales.region', operator: 'equals', values: [region] }],
  },
  spec: { member: 'sales.region', measure: 'sales.amount', geometry: 'world' },
});

test('a map shows the part of the world that has values, and says how it shows none', async () => {
  const page = await show([map('AMER')]);
  const [left, , width] = (await page.locator('.map svg').getAttribute('viewBox'))!.split(' ').map(Number);
  expect(left! + width!).toBeLessThan(500);
  expect(await page.locator('.map-legend').innerText()).toContain('No data');
  await page.context().close();
});

test('a map of points has a point for each row, the largest first, whose tooltip names it', async () => {
  const page = await show([
    {
      kind: 'map',
      title: 'Shops',
      query: { measures: ['sales.amount', 'sales.count'], dimensions: ['sales.name'] },
      spec: {
        latitude: 'sales.count',
        longitude: 'sales.amount',
        measure: 'sales.amount',
        member: 'sales.name',
        geometry: 'world',
      },
    },
  ]);
  const points = page.locator('.map-point');
  await points.first().waitFor();
  const sizes = (
    await points.evaluateAll((all) => all.map((one) => (one as never as SVGNumber).r.baseVal.value))
  ).map(Number);
  expect(sizes.length).toBe(3);
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
  await points.first().hover();
  await page.getByText('Ada').first().waitFor();
  await page.context().close();
});

interface SVGNumber {
  r: { baseVal: { value: number } };
}

const SERIES = Array.from({ length: 12 }, (_, i) => `The series that has the number ${i + 1}`);
const [ACROSS, UPWARDS] = BARS.scales;
const wordy: Report = {
  kind: 'vega',
  title:
    'A chart whose title is too long for one line of a card that is not very wide, and so needs more of them',
  query: { measures: ['sales.amount'], dimensions: ['sales.status', 'sales.name'] },
  spec: {
    ...BARS,
    scales: [...BARS.scales, { name: 'color', type: 'ordinal', domain: SERIES, range: 'category' }],
    legends: [{ fill: 'color', symbolType: 'circle' }],
  },
};
const sideways: Report = {
  kind: 'vega',
  title: 'Sideways',
  query: { measures: ['sales.amount'], dimensions: ['sales.status'] },
  spec: {
    data: BARS.data,
    scales: [
      { ...UPWARDS, name: 'x', range: 'width' },
      { ...ACROSS, name: 'y', range: 'height', domain: { data: 'rows', field: 'sales__status' } },
    ],
    axes: [
      { orient: 'bottom', scale: 'x' },
      { orient: 'left', scale: 'y' },
    ],
    marks: [
      {
        type: 'rect',
        from: { data: 'rows' },
        encode: {
          update: {
            y: { scale: 'y', field: 'sales__status' },
            height: { scale: 'y', band: 1 },
            x: { scale: 'x', field: 'sales__amount' },
            x2: { scale: 'x', value: 0 },
          },
        },
      },
    ],
  },
};

/** What a shape can be asked in the page. */
interface Card {
  clientWidth: number;
  querySelector(selector: string): { getBoundingClientRect(): { width: number } } | null;
}
interface ShapeElement {
  getAttribute(name: string): string | null;
  getBoundingClientRect(): { right: number };
}

/** Texts that end before they are over, or that are outside of what is shown of them. */
const CUT = `(() => {
  const cut = [];
  const ends = (box, outer) => box.left < outer.left - 1 || box.right > outer.right + 1 || box.bottom > outer.bottom + 1;
  if (document.documentElement.scrollWidth > innerWidth) cut.push('the page');
  for (const element of document.querySelectorAll('body *')) {
    const style = getComputedStyle(element);
    if (element.closest('.hidden, svg') || !element.clientWidth) continue;
    const hides = style.overflowX === 'hidden' || style.overflowX === 'clip';
    if (hides && element.scrollWidth > element.clientWidth + 1) cut.push(element.className + ': ' + element.textContent);
  }
  for (const card of document.querySelectorAll('.card-kpi, .control'))
    for (const inner of card.querySelectorAll('*'))
      if (ends(inner.getBoundingClientRect(), card.getBoundingClientRect())) cut.push('in a card: ' + inner.textContent);
  for (const text of document.querySelectorAll('.vega text')) {
    const outer = text.closest('.vega').getBoundingClientRect();
    if (text.textContent.includes('…') || ends(text.getBoundingClientRect(), outer)) cut.push('label: ' + text.textContent);
  }
  return cut;
})()`;

test.each([390, 768, 900, 1280])('nothing is cut off at %i px', async (width) => {
  const page = await show([wordy, february(), table('Largest', AMOUNTS), sideways], {
    width,
    query: '&locale=de',
  });
  await expect.poll(() => page.locator('.vega svg').count()).toBe(2);
  await expect.poll(() => page.locator('.role-legend-label text').count()).toBe(12);
  await expect.poll(() => page.evaluate(CUT)).toEqual([]);
  // The plot below the legend can still be read.
  const plot = await page.locator('.vega .mark-rect.role-mark').first().boundingBox();
  expect(plot!.height).toBeGreaterThan(60);
  await page.context().close();
});

const AMOUNT = { field: 'sales__amount', type: 'quantitative' };
const STATUS = { field: 'sales__status', type: 'nominal' };
const NAME = { field: 'sales__name', type: 'nominal' };
const ID = { field: 'sales__id', type: 'nominal' };
const bars = { mark: 'bar', encoding: { x: STATUS, y: AMOUNT } };
const byHand = async (title: string, chart: object): Promise<Report> => {
  const query = { measures: ['sales.amount'], dimensions: ['sales.id', 'sales.name', 'sales.status'] };
  const body = { jsonQuery: JSON.stringify(query), meta: { chart: { kind: 'vega', spec: chart } } };
  const { spec } = await world.admin.previewReport({ deploymentId, body });
  return { kind: 'vega', title, query, spec: spec! };
};

test('small charts by hand have the room that there is, and what does not fit is scrolled', async () => {
  const fitting = await Promise.all([
    byHand('Wrapped', { ...bars, encoding: { ...bars.encoding, facet: { ...NAME, columns: 3 } } }),
    byHand('Columns', { ...bars, encoding: { ...bars.encoding, column: NAME } }),
    byHand('Rows', { mark: 'bar', encoding: { x: AMOUNT, y: STATUS, row: NAME } }),
    byHand('Grid', { ...bars, encoding: { ...bars.encoding, column: STATUS, row: NAME } }),
    byHand('Beside', { hconcat: [bars, { ...bars, mark: 'point' }, { ...bars, mark: 'line' }] }),
    byHand('Below', { vconcat: [bars, { ...bars, mark: 'point' }] }),
    byHand('Own size', {
      ...bars,
      width: 500,
      encoding: { ...bars.encoding, facet: { ...NAME, columns: 2 } },
    }),
  ]);
  const wide = await byHand('Wide', { ...bars, encoding: { ...bars.encoding, column: ID } });
  for (const width of [390, 768, 1280]) {
    const page = await show(fitting, { width });
    await expect.poll(() => page.locator('.vega svg').count()).toBe(fitting.length);
    await expect.poll(() => page.evaluate(CUT)).toEqual([]);
    // Each is as wide as its card lets it, but for the space that the axes need, and the last is as wide as its author said.
    const widths = await page
      .locator('.vega')
      .evaluateAll((cards: Card[]) =>
        cards.map((card) => card.querySelector('svg')!.getBoundingClientRect().width / card.clientWidth),
      );
    expect(Math.min(...widths.slice(0, -1))).toBeGreaterThan(0.8);
    await page.context().close();
  }
  const page = await show([wide], { width: 390 });
  const picture = page.getByRole('img', { name: 'Wide' });
  await expect.poll(() => picture.getAttribute('class')).toContain('more-after');
  expect((await page.evaluate(CUT)) as string[]).toContain('label: 4');
  await picture.focus();
  for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowRight');
  await expect.poll(async () => (await page.evaluate(CUT)) as string[]).not.toContain('label: 4');
  await page.context().close();
});

const through = (title: string, type: string, from: string): Report => ({
  kind: 'vega',
  title,
  query: {
    measures: ['sales.count'],
    timeDimensions: [
      { dimension: 'sales.ordered_at', granularity: 'month', dateRange: [from, '2024-03-31'] },
    ],
  },
  spec: {
    data: BARS.data,
    scales: [
      { name: 'x', type: 'utc', domain: { data: 'rows', field: 'sales__ordered_at__month' }, range: 'width' },
      { name: 'y', domain: { data: 'rows', field: 'sales__count' }, range: 'height', zero: true },
    ],
    marks: [
      {
        type,
        from: { data: 'rows' },
        encode: {
          update: {
            x: { scale: 'x', field: 'sales__ordered_at__month' },
            y: { scale: 'y', field: 'sales__count' },
            y2: { scale: 'y', value: 0 },
          },
        },
      },
    ],
  },
});

test('a line or an area through a single row is a point', async () => {
  const titles = ['line', 'area'].flatMap((type) => [`${type} of one`, `${type} of many`]);
  const page = await show(
    titles.map((title) =>
      through(title, title.split(' ')[0]!, title.endsWith('one') ? '2024-03-01' : '2024-01-01'),
    ),
  );
  const points = titles.map((title) =>
    page.getByRole('group', { name: title }).locator('.vega .mark-symbol path').count(),
  );
  await expect.poll(() => page.locator('.vega svg').count()).toBe(4);
  expect(await Promise.all(points)).toEqual([1, 0, 1, 0]);
  await page.context().close();
});

test('a year is told by a label that is seen', async () => {
  const weeks = through('Weeks', 'line', '2024-01-01');
  const [across, upwards] = (weeks.spec as { scales: object[] }).scales;
  const domain = [Date.UTC(2023, 10, 13), Date.UTC(2024, 1, 21)];
  const axes = [{ orient: 'bottom', scale: 'x', tickCount: 14, labelOverlap: true }];
  const page = await show([
    { ...weeks, spec: { ...weeks.spec, axes, scales: [{ ...across, domain }, upwards] } },
  ]);
  const labels = page.locator('.role-axis-label text');
  await labels.first().waitFor({ state: 'attached' });
  const hidden = page.locator('.role-axis-label text[opacity="0"]');
  // January 7 is the eighth of the Sundays, of which each second one is left out.
  expect(await hidden.first().textContent()).toBe('Nov 26');
  const seen = await page.locator('.role-axis-label text:not([opacity="0"])').allTextContents();
  expect(seen.filter((text) => /20\d\d/.test(text))).toEqual(['Nov 192023', 'Jan 142024']);
  await page.context().close();
});

test('what has no drill members does not offer details', async () => {
  const figure = (measure: string): Report => ({
    ...{ kind: 'kpi', title: measure, query: { measures: [measure] } },
    spec: { measure },
  });
  const page = await show([
    figure('sales.count'),
    figure('customers.count'),
    {
      ...table('Counts', { measures: ['customers.count'], dimensions: ['customers.region'] }),
      spec: { columns: [{ member: 'customers.region' }, { member: 'customers.count', bar: true }] },
    },
  ]);
  const buttons = (title: string, name: string) =>
    page.getByRole('group', { name: title, exact: true }).locator(name).count();
  expect(await page.locator('.figure').allInnerTexts()).toEqual(['5', '3']);
  expect(await buttons('sales.count', 'button.figure')).toBe(1);
  expect(await buttons('customers.count', 'button.figure')).toBe(0);
  expect(await buttons('Counts', 'td button')).toBe(0);
  // The bar is behind its number.
  const { x, y, width, height } = (await page.locator('td:has(.bar) .over').first().boundingBox())!;
  const top = `document.elementFromPoint(${x + width / 2}, ${y + height / 2}).className`;
  expect(await page.evaluate(top)).toBe('over');
  await page.context().close();
});

test('twelve series have twelve colours', async () => {
  const page = await show([wordy]);
  const symbols = page.locator('.role-legend-symbol path');
  await expect.poll(() => symbols.count()).toBe(12);
  const colors = await symbols.evaluateAll((all) =>
    all.map((path) => (path as never as ShapeElement).getAttribute('fill')),
  );
  expect(new Set(colors).size).toBe(12);
  await page.context().close();
});

test('pages of right-to-left languages are mirrored, and so are their charts', async () => {
  const page = await show([sideways, table('Largest', AMOUNTS)], { query: '&locale=ar' });
  await expect.poll(() => page.locator('.vega .mark-rect.role-mark path').count()).toBe(2);
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  const leftOf = async (selector: string, i: number) =>
    (await page.locator(selector).nth(i).boundingBox())!.x;
  expect(await leftOf('.cell.chart', 0)).toBeGreaterThan(await leftOf('.cell.chart', 1));
  expect(await leftOf('thead th', 0)).toBeGreaterThan(await leftOf('thead th', 1));
  // The names are at the right, and the bars begin there.
  const bars = await page
    .locator('.vega .mark-rect.role-mark path')
    .evaluateAll((all) =>
      all.map((bar) => Math.round((bar as never as ShapeElement).getBoundingClientRect().right)),
    );
  expect(new Set(bars).size).toBe(1);
  expect(await leftOf('.vega .role-axis-label text', 0)).toBeLessThan(bars[0]!);
  const names = await page
    .locator('.vega .role-axis-label text', { hasText: /new|done/ })
    .first()
    .boundingBox();
  expect(names!.x).toBeGreaterThan(bars[0]!);
  await page.context().close();
});
