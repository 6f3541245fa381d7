/** The published dashboards of the demo in a real browser, for two customers side by side. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { embed, type HostSite, startHost } from '../../../test/embedded-page.ts';
import { whenBuilt } from '../../../test/shops.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

let world: World;
let browser: Browser;
let host: HostSite;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  await whenBuilt(world, 1);
  browser = await openBrowser();
  host = await startHost();
});
afterAll(async () => {
  await browser?.close();
  await host?.stop();
  await world?.stop();
});

async function addressFor(publicId: string, embedTenantName: string, region: string) {
  const userAttributes = [{ name: 'region', value: region }];
  const body = { deploymentId: 1, externalId: 'ann', embedTenantName, userAttributes };
  const { sessionId } = await world.admin.generateSession({ body });
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

test('a dashboard that is not there is not available', async () => {
  const embedding = await embed(browser, host.origin, [
    await addressFor('no-such-dashboard', 'acme-corp', 'EU'),
  ]);
  expect(await embedding.heard('error')).toMatchObject({ fatal: true, context: 'dashboard' });
  await embedding.frame().getByText('This dashboard is not available').waitFor();
  await embedding.close();
});
