/** An analyst answers five questions by point and click, saves them, and finds them again by their address. */
import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DESKTOP, openBrowser } from './browser.ts';
import { whenBuilt } from './shops.ts';
import { createSignable, logIn, PASSWORD } from './sign-in.ts';
import { createOwnWorld, type World } from './world.ts';

const deploymentId = 1;
let world: World;
let browser: Awaited<ReturnType<typeof openBrowser>>;
let page: Page;
let accessToken: string;
const problems: string[] = [];

beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  await whenBuilt(world, deploymentId);
  // The policies of the demo show people the rows of their region.
  const analyst = await createSignable(world, { roles: ['Explorer'] });
  const { items } = await world.admin.getUserAttributes({ name: 'region' });
  await world.admin.upsertUserAttributeValue({
    body: { userId: analyst.id, userAttributeId: items[0]!.id, value: 'EU' },
  });
  ({ accessToken } = await logIn(world, analyst));
  browser = await openBrowser();
  page = await browser.newPage({ viewport: { ...DESKTOP, width: 1280 } });
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${world.url}/sign-in?next=/d/${deploymentId}/explore`);
  await page.fill('input[name=username]', analyst.email);
  await page.fill('input[name=password]', PASSWORD);
  await page.locator('input[name=password]').press('Enter');
  await page.waitForURL((url) => !url.pathname.includes('sign-in'));
  await page.goto(`${world.url}/d/${deploymentId}/explore`);
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

const button = (name: string | RegExp) => page.getByRole('button', { name }).first();
const tab = (name: string) => page.getByRole('tab', { name }).click();

async function add(title: string) {
  const search = page.getByRole('searchbox', { name: 'Search fields' });
  await search.fill(title);
  await page
    .getByRole('button', { name: `Add ${title}`, exact: true })
    .first()
    .click();
  await search.fill('');
}

/** A row of a table in the browser. */
interface DrawnRow {
  cells: Iterable<{ textContent: string }>;
}

/** What the table shows, once it shows the answer to the newest question. */
async function shownRows(count: number): Promise<string[][]> {
  await tab('Table');
  const rows = page.getByRole('region', { name: 'Results' }).locator('tbody tr:not(.space)');
  await expect.poll(() => rows.count()).toBe(count);
  await expect.poll(() => page.locator('.results-panel').getAttribute('aria-busy')).toBe('false');
  return rows.evaluateAll((all) =>
    (all as unknown as DrawnRow[]).map((row) => [...row.cells].map(({ textContent }) => textContent.trim())),
  );
}

async function answerTo(query: object): Promise<Record<string, string | null>[]> {
  const response = await world.raw('POST', `/query/api/v1/deployments/${deploymentId}/load`, {
    headers: { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` },
    body: JSON.stringify({ query }),
  });
  return ((await response.json()) as { data: Record<string, string | null>[] }).data;
}

/** Digits decide: how they are written is the business of other tests. */
const digits = (text: string | null | undefined) =>
  Math.round(Number(String(text ?? '').replaceAll(/[^0-9.-]/g, '')));

const saved: { name: string; address: string; rows: string[][] }[] = [];

async function save(name: string, rows: string[][], workbook?: string) {
  await button('Save').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  if (workbook) await dialog.getByRole('combobox', { name: /^Workbook/ }).selectOption({ label: workbook });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(/\/reports\/\d+$/);
  saved.push({ name, address: page.url(), rows });
}

const newQuestion = async () => {
  await page.getByRole('link', { name: 'New question' }).click();
  await button(/^Sales/).click();
};

/** In place of what the editor holds. Only a part of a long text is in the page. */
async function write(label: string, text: string) {
  await page.locator('.code-host:not([hidden])').waitFor();
  await page.getByRole('textbox', { name: label }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

/** Pictures to look at, if somebody wants some. */
async function shoot(name: string) {
  const folder = process.env.ORIEL_EXPLORE_SHOTS;
  if (!folder) return;
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.screenshot({ path: `${folder}/${name}-${scheme}.png` });
  }
  await page.emulateMedia({ colorScheme: 'light' });
  const size = page.viewportSize()!;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.screenshot({ path: `${folder}/${name}-390.png` });
  await page.setViewportSize(size);
}

async function requireAccessible() {
  // An old answer is pale until the next one comes, and a moment longer.
  await page.locator('.results-panel.stale').waitFor({ state: 'detached' });
  await page.waitForTimeout(300);
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'],
    }),
  );
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))])).toEqual([]);
}

test('five questions', async () => {
  await requireAccessible();

  // 1. What did each category bring in?
  await page.getByRole('searchbox', { name: /Search views/ }).fill('revenue');
  await page
    .getByRole('listitem')
    .filter({ hasText: 'Orders, their lines' })
    .getByRole('button', { name: 'Revenue', exact: true })
    .click();
  await add('Product Category');
  const byCategory = { measures: ['sales.revenue'], dimensions: ['sales.product_category'] };
  const categories = await answerTo(byCategory);
  let rows = await shownRows(categories.length);
  expect(rows.map(([name, value]) => [name, digits(value)])).toEqual(
    categories.map((row) => [row['sales.product_category'], digits(row['sales.revenue'])]),
  );
  await save('Revenue by category', rows);

  // 2. Which of two channels brings more orders? With a filter whose values are found on the server.
  await newQuestion();
  await add('Orders');
  await add('Channel');
  await button('Add filter').click();
  await page.getByRole('searchbox', { name: 'Which field?' }).fill('Channel');
  await page.getByRole('dialog').getByRole('button', { name: 'Channel' }).click();
  await page.getByRole('checkbox', { name: 'web' }).check();
  await page.getByRole('checkbox', { name: 'phone' }).check();
  await button('Done').click();
  rows = await shownRows(2);
  const channels = await answerTo({
    measures: ['sales.orders'],
    dimensions: ['sales.channel'],
    filters: [{ member: 'sales.channel', operator: 'equals', values: ['web', 'phone'] }],
  });
  expect(rows.map(([name, value]) => [name, digits(value)])).toEqual(
    channels.map((row) => [row['sales.channel'], digits(row['sales.orders'])]),
  );
  // A new question is another page, from which the way back leads to this one.
  await page.getByRole('link', { name: 'New question' }).click();
  await page.getByRole('searchbox', { name: /Search views/ }).waitFor();
  await page.goBack();
  expect(await shownRows(2)).toEqual(rows);
  await save('Two channels', rows, 'Revenue by category');

  // 3. How did revenue go, and how does it compare with the year before?
  await newQuestion();
  await add('Revenue');
  await add('Ordered');
  await button('Add filter').click();
  await page.getByRole('searchbox', { name: 'Which field?' }).fill('Ordered');
  await page.getByRole('searchbox', { name: 'Which field?' }).press('Enter');
  await page.getByLabel('Relative').selectOption({ label: 'the last 12 months' });
  await button('Done').click();
  await page.getByRole('img', { name: /12/ }).waitFor();
  await requireAccessible();
  await button('Compare').click();
  await page.getByRole('menuitemradio', { name: 'the year before' }).click();
  await expect.poll(async () => (await shownRows(12))[0]!.length).toBe(5);
  rows = await shownRows(12);
  const time = { dimension: 'sales.ordered_at', granularity: 'month' };
  const revenueIn = (dateRange: string | string[]) =>
    answerTo({ measures: ['sales.revenue'], timeDimensions: [{ ...time, dateRange }] });
  const now = await revenueIn('last 12 months');
  const first = now[0]!['sales.ordered_at.month']!.slice(0, 10);
  const dayBefore = new Date(Date.parse(first) - 86_400_000).toISOString().slice(0, 10);
  const before = await revenueIn([`${Number(first.slice(0, 4)) - 1}${first.slice(4)}`, dayBefore]);
  expect(rows.map((row) => digits(row[1]))).toEqual(now.map((row) => digits(row['sales.revenue'])));
  expect(rows.map((row) => digits(row[2]))).toEqual(before.map((row) => digits(row['sales.revenue'])));
  await save('Revenue over time', rows, 'Revenue by category');

  // 4. How much is it altogether? One number is a figure; undo brings back what was there.
  await newQuestion();
  await add('Revenue');
  await add('Status');
  await page.keyboard.press('Control+z');
  await tab('Chart');
  const [total] = await answerTo({ measures: ['sales.revenue'] });
  const figure = page.locator('.kpi .figure');
  expect(digits((await figure.getAttribute('title')) ?? '')).toBe(digits(total!['sales.revenue']));
  await save('All revenue', [], 'Revenue by category');

  // 5. What is behind the largest number? Go on from a cell.
  await newQuestion();
  await add('Orders');
  await add('Status');
  const [top] = await shownRows(5);
  await page
    .getByRole('region', { name: 'Results' })
    .getByRole('button', { name: top![1]!, exact: true })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Channel', exact: true }).click();
  rows = await shownRows(4);
  const behind = await answerTo({
    measures: ['sales.orders'],
    dimensions: ['sales.channel'],
    filters: [{ member: 'sales.status', operator: 'equals', values: [top![0]] }],
  });
  expect(rows.map(([name, value]) => [name, digits(value)])).toEqual(
    behind.map((row) => [row['sales.channel'], digits(row['sales.orders'])]),
  );
  // A link brings the whole question back, before it is stored.
  const link = page.url();
  expect(link).toContain('?q=1');
  await page.goto('about:blank');
  await page.goto(link);
  expect(await shownRows(4)).toEqual(rows);
  await save('Behind the largest', rows, 'Revenue by category');

  // All of them are there again, from their addresses.
  for (const { name, address, rows: before } of saved) {
    await page.goto('about:blank');
    await page.goto(address);
    await page.getByRole('heading', { level: 1, name }).waitFor();
    if (before.length) expect(await shownRows(before.length)).toEqual(before);
  }
  await tab('Chart');
  await button('Settings').click();
  await requireAccessible();
  const { items } = await world.admin.getReports({ deploymentId, search: 'Revenue over time' });
  expect(items[0]!.meta).toMatchObject({
    visualization: { type: 'line', periodComparisons: [{ offset: { unit: 'year' } }] },
  });
  expect(problems).toEqual([]);
});

test('fields that the question calculates', async () => {
  await page.goto(`${world.url}/d/${deploymentId}/explore`);
  await button(/^Sales/).click();
  await add('Revenue');
  await add('Ordered');
  // How fine a time is, is chosen wherever it is picked: at the top, and among the times.
  expect(await page.getByLabel('Ordered: By').count()).toBe(2);
  await page.getByLabel('Ordered: By').last().selectOption('quarter');
  expect(await page.getByLabel('Ordered: By').first().inputValue()).toBe('quarter');
  // One click computes the usual from a measure.
  await page.getByRole('button', { name: 'More for Revenue', exact: true }).first().click();
  await page.getByRole('menuitem', { name: 'Running total' }).click();
  // An expression: fields are proposed, and what is wrong is said at its place.
  await button('Calculated field…').click();
  const dialog = page.getByRole('dialog');
  const input = dialog.getByRole('textbox', { name: 'Expression' });
  await input.fill('sales.revenue / ');
  await input.press('End');
  await page.keyboard.type('orde');
  await dialog.getByRole('option', { name: /^Orders/ }).waitFor();
  await input.press('Enter');
  await page.keyboard.type(' + nothing');
  await dialog.locator('mark', { hasText: 'nothing' }).waitFor();
  await dialog.getByText('No calculated field before this one').waitFor();
  await requireAccessible();
  expect(await dialog.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
  await input.fill('sales.revenue / sales.orders');
  await dialog.getByLabel('Name').fill('For each <b>order</b>');
  await dialog.getByText('This can be computed.').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();

  const expected = await answerTo({
    measures: ['sales.revenue', 'sales.orders'],
    timeDimensions: [{ dimension: 'sales.ordered_at', granularity: 'quarter' }],
  });
  let sum = 0;
  const months = expected.map((row) => {
    const revenue = Number(row['sales.revenue']);
    sum += revenue;
    return [revenue, sum, revenue / Number(row['sales.orders'])].map(Math.round);
  });
  await page.getByRole('button', { name: 'For each <b>order</b>' }).first().waitFor();
  const rows = await shownRows(months.length);
  expect(rows.map((row) => row.slice(1).map(digits))).toEqual(months);
  // They sort like measures, and come back with the link.
  await page
    .getByRole('columnheader', { name: /^For each/ })
    .getByRole('button')
    .first()
    .click();
  const largest = Math.max(...months.map((row) => row[2]!));
  await expect.poll(async () => digits((await shownRows(months.length))[0]![3])).toBe(largest);
  const sorted = await shownRows(months.length);
  await page.reload();
  expect(await shownRows(months.length)).toEqual(sorted);

  // Columns are moved, stay in sight and get bars; a workbook has them in the same order.
  const header = (name: RegExp) => page.getByRole('columnheader', { name });
  const columnMenu = async (name: RegExp, role: 'menuitem' | 'menuitemradio', item: string) => {
    await header(name)
      .getByRole('button', { name: /^More for/ })
      .click();
    await page.getByRole(role, { name: item }).click();
  };
  await columnMenu(/^For each/, 'menuitem', 'Keep in sight');
  await columnMenu(/^Revenue(?!:)/, 'menuitemradio', 'Bars');
  await header(/^Revenue: running/)
    .getByRole('button')
    .first()
    .press('Alt+ArrowLeft');
  const titles = ['For each <b>order</b>', 'Ordered', 'Revenue: running total', 'Revenue'];
  const shownTitles = () =>
    page
      .getByRole('columnheader')
      .evaluateAll((all) =>
        (all as unknown as { textContent: string }[]).map(({ textContent }) =>
          textContent.trim().replace(/(?:[↓↑]|Move left).*$/, ''),
        ),
      );
  await expect.poll(shownTitles).toEqual(titles);
  await page.locator('.result-table .bar').first().waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), button('Download XLSX').click()]);
  expect(file.suggestedFilename()).toBe('Sales.xlsx');
  const bytes = readFileSync(await file.path());
  expect(bytes.subarray(0, 2).toString()).toBe('PK');
  await requireAccessible();
  expect(problems).toEqual([]);
});

test('values on demand, and a chart by hand', async () => {
  await page.goto(`${world.url}/d/${deploymentId}/explore`);
  await button(/^Sales/).click();
  await add('Orders');
  await add('Status');
  const search = page.getByRole('searchbox', { name: 'Search fields' });
  await search.fill('channel');
  await page.locator('.member mark', { hasText: 'Channel' }).first().waitFor();
  await page.getByRole('button', { name: 'More for Channel', exact: true }).first().click();
  await page.getByRole('menuitem', { name: 'Show values' }).click();
  await page.getByRole('button', { name: 'Channel: web', exact: true }).click();
  await search.fill('');
  const expected = await answerTo({
    measures: ['sales.orders'],
    dimensions: ['sales.status'],
    filters: [{ member: 'sales.channel', operator: 'equals', values: ['web'] }],
  });
  await button(/Channel is web/).waitFor();
  const rows = await shownRows(expected.length);
  expect(rows.map(([name, value]) => [name, digits(value)])).toEqual(
    expected.map((row) => [row['sales.status'], digits(row['sales.orders'])]),
  );

  await tab('Chart');
  await button('Settings').click();
  await page.getByRole('checkbox', { name: 'Vega-Lite by hand' }).check();
  const editor = page.locator('.vega-editor .cm-content');
  await expect.poll(() => editor.innerText()).toContain('sales__orders');
  await write('Vega-Lite by hand', '{\n  "mark": "bar",\n  oops');
  await page.locator('.vega-editor .cm-lintRange-error').waitFor({ state: 'attached' });
  await page.getByText(/^Line 3, column 3/).waitFor();
  await write('Vega-Lite by hand', '{"mark":"bar","encoding":{"x":{"field":"sales__nothing"}}}');
  await page.locator('.vega-editor').getByText('sales__nothing').first().waitFor();
  const spec = {
    mark: 'bar',
    encoding: {
      x: { field: 'sales__status', type: 'nominal', title: 'By hand' },
      y: { field: 'sales__orders', type: 'quantitative' },
    },
  };
  await write('Vega-Lite by hand', JSON.stringify(spec));
  await page.locator('.chart-view').getByText('By hand').first().waitFor({ state: 'attached' });
  await requireAccessible();
  await save('By hand', []);
  const { items } = await world.admin.getReports({ deploymentId, search: 'By hand' });
  expect(items[0]!.meta).toEqual({ chart: { kind: 'vega', spec } });
  await page.reload();
  await page.locator('.chart-view').getByText('By hand').first().waitFor({ state: 'attached' });
  expect(problems).toEqual([]);
});

test('a chart by hand that comes by a link waits for a click, and the tab is in the address', async () => {
  const spec = {
    mark: 'bar',
    encoding: {
      x: { field: 'sales__status', type: 'nominal', title: 'By somebody' },
      y: { field: 'sales__orders', type: 'quantitative' },
    },
  };
  const packed = { s: 'sales', m: ['.orders'], d: ['.status'], y: spec };
  await page.goto('about:blank');
  await page.goto(
    `${world.url}/d/${deploymentId}/explore?q=1${Buffer.from(JSON.stringify(packed)).toString('base64url')}`,
  );
  const drawn = page.locator('.chart-view').getByText('By somebody').first();
  await button('Draw it').waitFor();
  expect(await drawn.count()).toBe(0);
  await requireAccessible();
  await button('Draw it').click();
  await drawn.waitFor({ state: 'attached' });
  // Once it was drawn here, a reload draws it again, in the tab that was chosen.
  await page.reload();
  await drawn.waitFor({ state: 'attached' });
  await tab('Table');
  await page.waitForURL(/&tab=table$/);
  await page.goto('about:blank');
  await page.goBack();
  await page.locator('.result-table tbody button').first().waitFor();
  expect(problems).toEqual([]);
});

test('a long answer is scrolled with a few rows in the page', async () => {
  const query = {
    measures: ['sales.revenue'],
    dimensions: ['sales.status', 'sales.channel'],
    timeDimensions: [{ dimension: 'sales.ordered_at', granularity: 'day' }],
    order: [['sales.revenue', 'desc']],
    limit: 1000,
  };
  await page.goto(`${world.url}/d/${deploymentId}/explore?q=${encodeURIComponent(JSON.stringify(query))}`);
  await tab('Table');
  const answer = await answerTo(query);
  expect(answer.length).toBeGreaterThan(200);
  const frame = page.getByRole('region', { name: 'Results' });
  const rows = frame.locator('tbody tr:not(.space)');
  await rows.first().waitFor();
  expect(Number(await frame.getByRole('table').getAttribute('aria-rowcount'))).toBe(answer.length + 1);
  /** The place and the value of each row that is in the page, from above. */
  const drawn = () =>
    rows.evaluateAll((all) =>
      (all as unknown as (DrawnRow & { ariaRowIndex: string })[]).map((row) => [
        Number(row.ariaRowIndex) - 2,
        [...row.cells].at(-1)!.textContent,
      ]),
    );
  const scrollTo = (top: number) =>
    frame.evaluate((element, top) => {
      (element as unknown as { scrollTop: number }).scrollTop = top;
    }, top);
  /** Every row shows its own value, in the order of the answer, and so few are there. */
  const requireRows = async (isThere: (from: number, to: number) => boolean) => {
    await expect
      .poll(async () => isThere(Number((await drawn())[0]![0]), Number((await drawn()).at(-1)![0])))
      .toBe(true);
    const shown = await drawn();
    expect(shown.length).toBeLessThan(100);
    const from = Number(shown[0]![0]);
    expect(shown.map(([index, value]) => [index, digits(String(value))])).toEqual(
      shown.map((_, i) => [from + i, digits(answer[from + i]!['sales.revenue'])]),
    );
  };
  const last = answer.length - 1;
  await requireRows((from) => from === 0);
  await scrollTo(200);
  await requireRows((from) => from === 0);
  for (const top of [1000, 1500, 1200, 4000]) {
    await scrollTo(top);
    await requireRows((from, to) => from * 32 <= top && (to + 1) * 32 > top + 200);
  }
  // New rows are drawn for another width, in the place of the old ones.
  const width = frame.getByRole('separator').first();
  const widthBefore = Number(await width.getAttribute('aria-valuenow'));
  await width.press('ArrowRight');
  await expect.poll(async () => Number(await width.getAttribute('aria-valuenow'))).toBe(widthBefore + 16);
  await requireRows((from, to) => from * 32 <= 4000 && (to + 1) * 32 > 4200);
  await scrollTo(answer.length * 32);
  await requireRows((_, to) => to === last);
  // Keys go on from a cell that is out of sight.
  await rows.last().getByRole('button').focus();
  await scrollTo(0);
  await requireRows((from) => from === 0);
  await page.keyboard.press('End');
  await requireRows((_, to) => to === last);
  await rows.last().getByRole('button').focus();
  await page.setViewportSize({ width: 1280, height: 500 });
  await requireRows((_, to) => to === last);
  await expect
    .poll(() => frame.evaluate((element: { matches(css: string): boolean }) => element.matches(':focus')))
    .toBe(true);
  await page.setViewportSize({ ...DESKTOP, width: 1280 });
  // A cell opens its own row, wherever it was before.
  await requireRows((_, to) => to === last);
  await rows.last().getByRole('button').click();
  for (const value of [answer[last]!['sales.status']!, answer[last]!['sales.channel']!])
    expect(await page.getByRole('dialog').innerText()).toContain(value);
  await page.keyboard.press('Escape');
  // Other rows begin at the top.
  const top = () => frame.evaluate((element) => (element as unknown as { scrollTop: number }).scrollTop);
  expect(await top()).toBeGreaterThan(0);
  await frame
    .getByRole('columnheader', { name: /^Status/ })
    .getByRole('button')
    .first()
    .click();
  await expect.poll(top).toBe(0);
  expect(problems).toEqual([]);
});

test('SQL over the model, and of the data source itself', async () => {
  await page.goto(`${world.url}/d/${deploymentId}/explore`);
  await button('Write SQL').click();
  const query = 'select status, measure(revenue) as revenue from sales group by 1 order by 1';
  await write('SQL over the views of the model', query);
  await page.keyboard.press('ControlOrMeta+Enter');
  const expected = await answerTo({
    measures: ['sales.revenue'],
    dimensions: ['sales.status'],
    order: [['sales.status', 'asc']],
  });
  const rows = page.getByRole('region', { name: 'Results' }).locator('tbody tr:not(.space)');
  const shown = () =>
    rows.evaluateAll((all) =>
      (all as unknown as DrawnRow[]).map((row) => [...row.cells].map(({ textContent }) => textContent)),
    );
  const model = expected.map((row) => [row['sales.status'], row['sales.revenue'] ?? '–']);
  await expect.poll(shown).toEqual(model);
  await button('Chart').click();
  await page.getByRole('img', { name: /5/ }).waitFor();
  await requireAccessible();
  await shoot('sql-model');
  // A reload brings the text back, and saving it again changes the same report.
  await page.reload();
  await expect.poll(shown).toEqual(model);
  await save('By SQL', []);
  await page.getByRole('heading', { level: 1, name: 'By SQL' }).waitFor();
  const changed = query.replace('order by 1', 'order by 2 desc');
  await write('SQL over the views of the model', changed);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const stored = async () => (await world.admin.getReports({ deploymentId, search: 'By SQL' })).items;
  await expect.poll(async () => (await stored()).map(({ sqlQuery }) => sqlQuery)).toEqual([changed]);
  // The page begins again with what is stored.
  const largestFirst = model
    .map(([, revenue]) => revenue)
    .filter((revenue) => revenue !== '–')
    .sort((a, b) => Number(b) - Number(a));
  const revenues = async () => (await shown()).map(([, revenue]) => revenue).filter((text) => text !== '–');
  await expect.poll(revenues).toEqual(largestFirst);

  // The rows of the data source are not those of one region.
  await page.getByRole('radio', { name: 'Data source' }).click();
  await page.getByText('Outside of the access policies.').waitFor();
  await write('SQL of the data source itself', 'select count(*) as n from files.orders');
  await button('Run').click();
  const all = await world.admin.queryDataSource({
    deploymentId,
    name: 'default',
    body: { query: 'select count(*) as n from files.orders' },
  });
  const [[count]] = JSON.parse(
    Buffer.from(await all.bytes())
      .toString()
      .split('\n')[1]!,
  ).data;
  await expect.poll(shown).toEqual([[count]]);
  await requireAccessible();
  await shoot('sql-source');
  expect(problems).toEqual([]);
});

test('filters in groups, ranges of any length, and the look of a chart', async () => {
  await page.goto(`${world.url}/d/${deploymentId}/explore`);
  await button(/^Sales/).click();
  await add('Orders');
  await add('Ordered');
  await add('Channel');
  const field = async (label: string | RegExp, name: string) => {
    await button(label).click();
    await page.getByRole('searchbox', { name: 'Which field?' }).fill(name);
    await page
      .getByRole('dialog', { name: typeof label === 'string' ? label : undefined })
      .getByRole('button', { name, exact: true })
      .first()
      .click();
  };
  await field('Add filter', 'Ordered');
  await page.getByLabel('Relative').selectOption({ label: 'the last …' });
  await page.getByLabel('How many').fill('18');
  await page.getByRole('combobox', { name: /^Unit/ }).selectOption('month');
  await button('Done').click();
  await button(/Ordered is in the last 18 months/).waitFor();
  await field('Add filter', 'Status');
  await page.getByRole('checkbox', { name: 'completed' }).check();
  await field('Or…', 'Channel');
  await page.getByRole('checkbox', { name: 'web' }).check();
  await field('And…', 'Status');
  await page.getByRole('checkbox', { name: 'shipped' }).check();
  await button('Done').click();
  await shoot('groups');
  const query = {
    measures: ['sales.orders'],
    dimensions: ['sales.channel'],
    timeDimensions: [{ dimension: 'sales.ordered_at', granularity: 'month', dateRange: 'last 18 months' }],
    filters: [
      {
        or: [
          { member: 'sales.status', operator: 'equals', values: ['completed'] },
          {
            and: [
              { member: 'sales.channel', operator: 'equals', values: ['web'] },
              { member: 'sales.status', operator: 'equals', values: ['shipped'] },
            ],
          },
        ],
      },
    ],
  };
  const expected = await answerTo(query);
  await page.getByText(`${expected.length} rows in`).waitFor();
  await page.getByText(/^Rows limited by/).waitFor();
  await tab('SQL');
  await page.getByText('This question uses something').waitFor();
  await tab('Chart');
  await button('Settings').click();
  await page.getByRole('combobox', { name: /^A small chart/ }).selectOption({ label: 'Channel' });
  await page.getByLabel('Small charts beside each other').fill('2');
  await button('Add a line').click();
  await page.getByRole('combobox', { name: /^At/ }).selectOption({ label: 'a number' });
  await page.getByLabel('Band up to').fill('20');
  await page.getByRole('combobox', { name: /^How Orders/ }).selectOption({ label: 'number' });
  await page.getByLabel('Decimals').fill('1');
  await page.getByLabel('Colour of Orders').first().fill('#aa3366');
  await page.getByRole('img', { name: new RegExp(`${expected.length}`) }).waitFor();
  await requireAccessible();
  await shoot('settings');
  await save('Looks', []);
  const { items } = await world.admin.getReports({ deploymentId, search: 'Looks' });
  expect(JSON.parse(items[0]!.jsonQuery!)).toMatchObject({ filters: query.filters });
  expect(items[0]!.meta).toMatchObject({
    visualization: {
      fields: { facet: 'sales.channel' },
      facetColumns: 2,
      references: [{ value: 0, to: 20 }],
      formats: { 'sales.orders': { type: 'number', decimalPlaces: 1 } },
      series: { 'sales.orders': { color: '#aa3366' } },
    },
  });
  expect(problems).toEqual([]);
});
