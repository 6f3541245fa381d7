/** The published dashboards of the demo in a real browser, for two customers side by side. */
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { embed, type HostSite, startHost } from '../../../test/embedded-page.ts';
import { whenBuilt } from '../../../test/shops.ts';
import { createWorld, type World } from '../../../test/world.ts';

let world: World;
let browser: Browser;
let host: HostSite;
beforeAll(async () => {
  world = await createWorld({ ORIEL_DEMO: 'true' });
  await whenBuilt(world, 1);
  browser = await openBrowser();
  host = await startHost();
});
afterAll(async () => {
  await browser?.close();
  await host?.stop();
  await world?.stop();
});

const sessionOf = (embedTenantName: string, region: string) => ({
  deploymentId: 1,
  externalId: 'ann',
  embedTenantName,
  userAttributes: [{ name: 'region', value: region }],
});

async function addressFor(publicId: string, embedTenantName: string, region: string) {
  const { sessionId } = await world.admin.generateSession({ body: sessionOf(embedTenantName, region) });
  return `${world.url}/embed/dashboard/${publicId}?session=${sessionId}`;
}

test.each(['DemoCommerce', 'DemoOpsBoard'])('%s shows each customer their own numbers', async (publicId) => {
  const addresses = [
    await addressFor(publicId, 'acme-corp', 'EU'),
    await addressFor(publicId, 'beta-corp', 'APAC'),
  ];
  const embedding = await embed(browser, host.origin, addresses);
  const [first, second] = [
    await embedding.heard('dashboard-loaded', 0),
    await embedding.heard('dashboard-loaded', 1),
  ];
  expect(first.widgetCount).toBe(second.widgetCount);
  expect(await embedding.events('error')).toEqual([]);
  // One request for each widget of each customer, and nothing that the policy of the page refused.
  const loads = embedding.requests.filter((url) => url.endsWith('/load'));
  expect(loads).toHaveLength(2 * (first.widgetCount as number));
  expect(embedding.errors).toEqual([]);
  const figures = await Promise.all(
    [0, 1].map((i) => embedding.frame(i).locator('.figure').first().innerText()),
  );
  expect(figures[0]).not.toBe(figures[1]);
  await expect.poll(() => embedding.frame().locator('.vega svg').count()).toBeGreaterThan(1);
  await embedding.close();
});

test('details say what they are about, go on to the last row, and leave as a file where charts do', async () => {
  const { token } = await world.embedded(sessionOf('acme-corp', 'EU'));
  const address = await addressFor('DemoCommerce', 'acme-corp', 'EU');
  const embedding = await embed(browser, host.origin, [`${address}&allowExport=true`]);
  await embedding.heard('dashboard-loaded');
  const frame = embedding.frame();
  const asked = embedding.page.waitForRequest(
    (request) => request.postData()?.includes('"total":true') ?? false,
  );
  await frame.getByRole('group', { name: 'Orders', exact: true }).locator('.figure').click();
  const [query] = (await asked).postDataJSON().query;
  const response = await fetch(`${world.url}/query/api/v1/deployments/1/load`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: { ...query, limit: 50_000 } }),
  });
  const { data } = (await response.json()) as { data: Record<string, string>[] };
  const rows = data.length;
  expect(rows).toBeGreaterThan(1000);
  const dialog = frame.getByRole('dialog', { name: 'Orders: Details' });
  const count = dialog.getByText(/^1 to /);
  const total = rows.toLocaleString('en-US');
  expect(await count.innerText()).toBe(`1 to 200 of ${total}`);
  expect(await dialog.locator('.drill-about span').first().innerText()).toMatch(/^Orders: [\d,]+$/);
  const toEnd = () =>
    frame.evaluate(
      `{ const table = document.querySelector('dialog .table'); table.scrollTop = table.scrollHeight; }`,
    );
  for (let shown = 400; shown < rows + 200; shown += 200) {
    await toEnd();
    await expect
      .poll(() => count.innerText())
      .toBe(`1 to ${Math.min(shown, rows).toLocaleString('en-US')} of ${total}`);
  }
  const last = Object.values(data.at(-1)!).map(String);
  await toEnd();
  await expect
    .poll(async () =>
      last.includes(await dialog.locator('tbody tr[aria-rowindex]').last().locator('td').first().innerText()),
    )
    .toBe(true);
  const [file] = await Promise.all([
    embedding.page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download as CSV' }).click(),
  ]);
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\r\n')
    .slice(1);
  expect(new Set(lines).size).toBe(rows);
  expect(await embedding.heard('download')).toMatchObject({ title: 'Orders: Details', rowCount: rows });
  // The server sorts, because not all rows are here.
  await dialog.getByRole('button', { name: 'Status' }).click();
  await expect.poll(() => count.innerText()).toBe(`1 to 200 of ${total}`);
  const statuses = data.map((row) => Object.entries(row).find(([key]) => key.endsWith('.status'))![1]);
  await expect.poll(() => dialog.getByRole('row').nth(1).innerText()).toContain(statuses.toSorted()[0]);
  await embedding.close();

  const closed = await embed(browser, host.origin, [await addressFor('DemoCommerce', 'acme-corp', 'EU')]);
  await closed.heard('dashboard-loaded');
  await closed.frame().locator('.figure').first().click();
  await closed
    .frame()
    .getByRole('dialog')
    .getByText(/^1 to /)
    .waitFor();
  expect(await closed.frame().getByRole('button', { name: 'Download as CSV' }).count()).toBe(0);
  await closed.close();
});

test('the details of a country have its name, and not its code', async () => {
  const embedding = await embed(browser, host.origin, [await addressFor('DemoCommerce', 'acme-corp', 'EU')]);
  await embedding.heard('dashboard-loaded');
  const frame = embedding.frame();
  const map = frame.getByRole('group', { name: 'Revenue by country' });
  // The middle of a country may be that of another one, or the sea.
  await map.locator('.land.opens').first().dispatchEvent('click');
  const heading = frame.getByRole('dialog').getByRole('heading');
  expect(await heading.innerText()).toMatch(/^Revenue by country: (Germany|France|Spain|Italy)$/);
  await embedding.close();
});

test('a dashboard that is not there is not available', async () => {
  const embedding = await embed(browser, host.origin, [
    await addressFor('no-such-dashboard', 'acme-corp', 'EU'),
  ]);
  expect(await embedding.heard('error')).toMatchObject({ fatal: true, context: 'dashboard' });
  await embedding.frame().getByText('This dashboard is not available').waitFor();
  await embedding.close();
});
