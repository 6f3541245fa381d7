/** What the widgets of the embedded page show and do, in a real browser. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, PHONE } from '../../../test/browser.ts';
import { type Embedding, embed, type HostSite, startHost } from '../../../test/embedded-page.ts';
import { withDashboards } from '../../../test/fixture-dashboards.ts';
import { graphical, tabular } from '../../../test/shop-dashboard.ts';
import { createShop } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let browser: Browser;
let host: HostSite;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  browser = await openBrowser();
  host = await startHost();
  deploymentId = await createShop(world);
});
afterAll(async () => {
  await browser?.close();
  await host?.stop();
  await world?.stop();
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function show(dashboard: object, query = '', options = {}): Promise<Embedding> {
  const body = {
    deploymentId,
    externalId: unique('viewer'),
    userProfile: { displayName: 'Ada Lovelace', picture: 'https://pictures.invalid/ada.png' },
  };
  const { sessionId } = await world.admin.generateSession({ body });
  const address = `${world.url}/embed/dashboard/shown?session=${sessionId}${query}`;
  const embedding = await embed(browser, host.origin, [address], {
    prepare: withDashboards({ shown: dashboard }),
    ...options,
  });
  await embedding.heard('dashboard-loaded');
  return embedding;
}

/** The texts of a table, row by row. All are read at once, because rows come and go. */
const tableOf = async (embedding: Embedding, title: string) => {
  const rows = embedding.frame().getByRole('region', { name: title }).getByRole('row');
  return (await rows.allInnerTexts()).map((row) => row.split('\t').map((cell) => cell.trim()));
};

test('tables sort, add up, and filters narrow them down', async () => {
  const embedding = await show(tabular(deploymentId, 'shown'));
  const frame = embedding.frame();
  const table = () => tableOf(embedding, 'Orders by name');
  expect((await table())[1]).toEqual(['Ada', 'done', '$20.00', '1']);
  expect((await table()).at(-1)).toEqual(['Total', '', '$43.75', '5']);
  await frame.getByRole('button', { name: 'Name', exact: true }).click();
  await expect
    .poll(async () => (await table()).slice(1, -1).map(([name]) => name))
    .toEqual(['Ada', 'Ada', 'Bob', 'Cyd', 'Cyd']);
  await frame.getByRole('button', { name: /Status/ }).click();
  await frame.getByRole('checkbox', { name: 'new' }).check();
  await expect.poll(table).toEqual([
    ['Name↑', 'State', 'Amount', 'Count'],
    ['Ada', 'new', '$10.50', '1'],
    ['Cyd', 'new', '$1.00', '1'],
    ['Total', '', '$11.50', '2'],
  ]);
  await embedding.close();
});

test('a figure is compared with the period before, and months too', async () => {
  const embedding = await show(tabular(deploymentId, 'shown'));
  const card = embedding.frame().getByRole('group', { name: 'Revenue' });
  expect(await card.locator('.figure').innerText()).toBe('$12.25');
  expect(await card.locator('.change').innerText()).toContain('-59.8%');
  await expect.poll(() => card.locator('polyline').count()).toBe(1);
  expect(await tableOf(embedding, 'By month')).toEqual([
    ['Ordered At', 'Amount', 'Count', 'Amount, previous'],
    ['Jan 2024', '$30.50', '2', '–'],
    ['Feb 2024', '$12.25', '2', '$30.50'],
    ['Mar 2024', '$1.00', '1', '$12.25'],
  ]);
  await embedding.frame().getByRole('button', { name: 'Day', exact: true }).click();
  await expect.poll(async () => (await tableOf(embedding, 'By month'))[1]?.[0]).toBe('Jan 10, 2024');
  await embedding.close();
});

test('charts and maps are drawn, have a table, and lead to details', async () => {
  const embedding = await show(graphical(deploymentId, 'shown'));
  const frame = embedding.frame();
  await frame.getByRole('img', { name: /^By status: chart of 2 rows/ }).waitFor();
  // Charts and maps are drawn by code that is loaded when it is needed.
  await expect.poll(() => frame.locator('.vega .mark-rect.role-mark path').count()).toBe(2);
  // Fields without a title have that of their member.
  expect(await frame.locator('.vega .role-axis-title text').allTextContents()).toEqual([
    'State',
    'Sum of Amount',
  ]);
  await expect.poll(() => frame.locator('.land.known').count()).toBeGreaterThan(20);
  expect(await frame.locator('.html').innerText()).toBe('We sold $43.75.');
  expect(await frame.locator('.thread li').allInnerTexts()).toHaveLength(2);
  expect(embedding.requests.filter((url) => url.endsWith('/load'))).toHaveLength(3);
  await frame.getByRole('tab', { name: 'Two' }).click();
  await frame.getByRole('region', { name: 'Later' }).first().waitFor();
  await frame.locator('.vega .mark-rect.role-mark path').first().click();
  expect(await embedding.heard('drilldown')).toMatchObject({ member: 'sales.amount', widgetId: 'bars' });
  await frame.getByRole('dialog').getByRole('row').nth(1).waitFor();
  await embedding.page.keyboard.press('Escape');
  await frame.getByRole('button', { name: 'Options for By status' }).click();
  expect(await frame.getByRole('menuitem').allInnerTexts()).toEqual(['Show as table']);
  await embedding.page.keyboard.press('ArrowDown');
  await embedding.page.keyboard.press('Enter');
  await expect.poll(() => tableOf(embedding, 'By status')).toHaveLength(3);
  expect(
    embedding.errors.filter((error) => !error.includes('pictures.invalid') && !error.includes('ERR_')),
  ).toEqual([]);
  await embedding.close();
});

test('rows leave as a file only where the host and the dashboard allow it', async () => {
  const open = await show(tabular(deploymentId, 'shown'), '&allowExport=true');
  await open.frame().getByRole('button', { name: 'Options for Orders by name' }).click();
  const [file] = await Promise.all([
    open.page.waitForEvent('download'),
    open.frame().getByRole('menuitem', { name: 'Download as CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('Orders by name.csv');
  expect(readFileSync(await file.path(), 'utf8')).toMatch(/^\ufeffName,State,Amount,Count\r\nAda,/);
  expect(await open.heard('download')).toEqual({
    format: 'csv',
    target: 'widget',
    widgetId: 'table',
    title: 'Orders by name',
    rowCount: 5,
  });
  await open.close();
  for (const [dashboard, query] of [
    [tabular(deploymentId, 'shown'), ''],
    [{ ...tabular(deploymentId, 'shown'), restrictDataDownload: true }, '&allowExport=true'],
  ] as const) {
    const closed = await show(dashboard, query);
    expect(
      await closed
        .frame()
        .getByRole('button', { name: /^Options for/ })
        .count(),
    ).toBe(0);
    await closed.close();
  }
});

test.each(['de', 'es', 'fr', 'ja'])('the page speaks %s', async (locale) => {
  const embedding = await show(tabular(deploymentId, 'shown'), `&locale=${locale}`);
  const frame = embedding.frame();
  expect(await frame.locator('html').getAttribute('lang')).toBe(locale);
  expect(await frame.locator('legend').innerText()).not.toBe('Group by');
  expect(await frame.locator('.figure').innerText()).toBe(
    new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' }).format(12.25),
  );
  await embedding.close();
});

test.each(['light', 'dark'] as const)('everybody can use the page in the %s', async (theme) => {
  for (const dashboard of [tabular, graphical]) {
    for (const viewport of [{ width: 1240, height: 960 }, PHONE]) {
      const embedding = await show(dashboard(deploymentId, 'shown'), `&theme=${theme}`, { viewport });
      const frame = embedding.frame();
      await frame.locator('.avatar').getByText('AL').waitFor();
      const violations = await frame.evaluate(
        `(() => { const module = undefined, exports = undefined; ${axe}; return axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' '))); })()`,
      );
      expect(violations).toEqual([]);
      await embedding.close();
    }
  }
});
