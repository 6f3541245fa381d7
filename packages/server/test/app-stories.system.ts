/** The way of a new admin to a first dashboard, without a line of code. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishWith, saveQuestion, shareWith } from './app-steps.ts';
import { openBrowser } from './browser.ts';
import { whenBuilt } from './shops.ts';
import { createSignable, logIn, PASSWORD, type Signable } from './sign-in.ts';
import { createOwnWorld, type World } from './world.ts';

const deploymentId = 1;
let world: World;
let browser: Browser;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  await whenBuilt(world, deploymentId);
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

async function open({ email }: Signable) {
  const context = await browser.newContext({
    baseURL: world.url,
    locale: 'en-US',
    viewport: { width: 1280, height: 900 },
  });
  const page = await context.newPage();
  await page.goto(`/sign-in?next=/d/${deploymentId}`);
  await page.fill('input[name=username]', email);
  await page.fill('input[name=password]', PASSWORD);
  await page.locator('input[name=password]').press('Enter');
  await page.waitForURL(`/d/${deploymentId}`);
  return { page, context };
}

test('a new admin follows the first steps to a published dashboard, and a viewer finds it', async () => {
  const viewer = await createSignable(world, { roles: ['Viewer'] });
  await world.admin.updateUser({ id: viewer.id, body: { firstName: 'Vera' } });
  const { page, context } = await open(await createSignable(world, { roles: ['Admin'] }));
  const steps = (done: number) =>
    page.getByRole('heading', { name: `First steps: ${done} of 6 done` }).waitFor();
  const home = () => page.getByRole('link', { name: 'Home', exact: true }).first().click();
  const step = (name: string) => page.getByRole('link', { name, exact: true }).click();

  // The demo has data, a model and people.
  await steps(3);
  await step('Make a first chart');
  await saveQuestion(page, /^Sales/, ['Revenue', 'Product Category'], 'Revenue by category');
  await home();
  await steps(4);
  await step('Publish a dashboard');
  await publishWith(page, 'Revenue by category');
  await home();
  await steps(5);
  await step('Embed it');
  await page.waitForURL(/\/workbooks\/\d+\/embed$/);
  await home();
  await page.getByRole('link', { name: 'Revenue by category' }).first().click();
  await shareWith(page, 'Vera');
  await world.embedded({ deploymentId, externalId: 'ann', embedTenantName: 'acme-corp' });
  // The session was minted elsewhere, so the page has to ask again.
  await page.goto(`/d/${deploymentId}`);
  await page.getByRole('link', { name: 'Revenue by category' }).first().waitFor();
  await expect.poll(() => page.getByRole('heading', { name: /^First steps/ }).count()).toBe(0);
  await context.close();
  const { items } = await (await logIn(world, viewer)).client.sharedWorkspaceObjects({ deploymentId });
  expect(items.map(({ name }) => name)).toEqual(['Revenue by category']);
});
