/** Takes the screenshots of the demo dashboards: `npm run screenshots`. Look at each of them before you commit it. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, PHONE } from './browser.ts';
import { whenBuilt } from './shops.ts';
import { createOwnWorld, type World } from './world.ts';

const FOLDER = process.env.ORIEL_SCREENSHOT_FOLDER ?? join(import.meta.dirname, '../../../docs/images');
const DASHBOARDS = { commerce: 'DemoCommerce', operations: 'DemoOpsBoard' };
const SIZES = [
  { name: 'light', viewport: { width: 1280, height: 800 }, theme: 'light' },
  { name: 'dark', viewport: { width: 1280, height: 800 }, theme: 'dark' },
  { name: 'phone', viewport: PHONE, theme: 'light' },
] as const;

let world: World;
let browser: Browser;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  await whenBuilt(world, 1);
  browser = await openBrowser();
  await mkdir(FOLDER, { recursive: true });
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

test.each(
  SIZES.flatMap((size) =>
    Object.entries(DASHBOARDS).map(([what, publicId]) => ({ ...size, what, publicId })),
  ),
)('$what in $name', async ({ name, what, publicId, viewport, theme }) => {
  const { sessionId } = await world.admin.generateSession({
    body: {
      deploymentId: 1,
      externalId: 'ada',
      embedTenantName: 'acme-corp',
      userProfile: { displayName: 'Ada Lovelace' },
      userAttributes: [{ name: 'regions', value: ['EU', 'US', 'APAC', 'EMEA', 'AMER', 'LATAM'] }],
    },
  });
  const context = await browser.newContext({ viewport, locale: 'en-US' });
  const page = await context.newPage();
  await page.goto(`${world.url}/embed/dashboard/${publicId}?session=${sessionId}&theme=${theme}`);
  await page.locator('.grid').waitFor();
  await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
  const failed = await page.getByRole('alert').allInnerTexts();
  await page.screenshot({ path: join(FOLDER, `dashboard-${what}-${name}.png`), fullPage: true });
  expect(failed).toEqual([]);
  await context.close();
});
