/** Takes a screenshot of every page of the app, with the demo: `npm run screenshots`. Look at each before you commit it. */
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { ROUTES } from '../../app/src/routes.ts';
import { openBrowser, PHONE } from './browser.ts';
import { whenBuilt } from './shops.ts';
import { createSignable, PASSWORD } from './sign-in.ts';
import { createOwnWorld, type World } from './world.ts';

const FOLDER = join(import.meta.dirname, '../../../docs/images');
const WIDE = { width: 1280, height: 800 };
const SIZES = [
  { name: 'light', viewport: WIDE, colorScheme: 'light' },
  { name: 'dark', viewport: WIDE, colorScheme: 'dark' },
  { name: 'phone', viewport: PHONE, colorScheme: 'light' },
] as const;
/** How long charts may take to appear before the picture is taken. */
const SETTLE_MS = 5000;

const deploymentId = 1;
let world: World;
let browser: Browser;
let email: string;
let ids: Record<string, number>;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  await whenBuilt(world, deploymentId);
  browser = await openBrowser();
  ({ email } = await createSignable(world, { roles: ['Admin'] }));
  const { items: folders } = await world.admin.getFolders({ deploymentId, first: 10 });
  const { items: workbooks } = await world.admin.getWorkbooks({ deploymentId, first: 100 });
  const { items: reports } = await world.admin.getReports({ deploymentId, first: 100 });
  const workbookId = workbooks.find(({ name }) => name === 'Commerce overview')!.id;
  const report = reports.find((one) => one.workbookId === workbookId)!;
  ids = { folderId: folders[0]!.id, workbookId, reportId: report.id };
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

test.each(SIZES)('$name', async ({ name, viewport, colorScheme }) => {
  const context = await browser.newContext({ baseURL: world.url, viewport, colorScheme, locale: 'en-US' });
  const page = await context.newPage();
  await page.goto('/sign-in');
  await page.fill('input[name=username]', email);
  await page.fill('input[name=password]', PASSWORD);
  await page.locator('input[name=password]').press('Enter');
  await page.waitForURL((url) => !url.pathname.includes('sign-in'));
  for (const [route, path] of Object.entries(ROUTES)) {
    await page.goto(`/d/${deploymentId}${path.replaceAll(/:(\w+)/g, (_, key) => String(ids[key] ?? 1))}`);
    await page.locator('main').waitFor();
    await page.waitForTimeout(SETTLE_MS);
    await page.screenshot({ path: join(FOLDER, `app-${route}-${name}.png`) });
  }
  await context.close();
});
