/** Takes the screenshots of docs/images: `npm run screenshots`. Look at each of them before you commit it. */
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHost } from '../../../examples/host/server.mjs';
import { DESKTOP, openBrowser, PHONE } from './browser.ts';
import { whenBuilt } from './shops.ts';
import { PASSWORD } from './sign-in.ts';
import { ADMIN_KEY, createOwnWorld, unique, type World } from './world.ts';

const FOLDER = join(import.meta.dirname, '../../../docs/images');
const SIZES = [
  { name: 'light', viewport: DESKTOP, colorScheme: 'light' },
  { name: 'dark', viewport: DESKTOP, colorScheme: 'dark' },
  { name: 'phone', viewport: PHONE, colorScheme: 'light' },
] as const;

const scheme = { contrast: 4.5, logoUrl: '', accentColor: '#e4572e' };
const THEME = {
  appTheme: {
    light: { ...scheme, backgroundColor: '#fffaf3', foregroundColor: '#3b2f2f' },
    dark: { ...scheme, backgroundColor: '#1d1a24', foregroundColor: '#f3ecff' },
  },
  applyThemeGlobally: true,
  creatorMode: { workspaceTitle: 'Acme Insights' },
};

/** The settings of a provider that does not exist: the server calls it only when the button is pressed. */
const WITH_PROVIDER = {
  ORIEL_OIDC_ISSUER: 'https://login.example.com',
  ORIEL_OIDC_CLIENT_ID: 'oriel',
  ORIEL_OIDC_NAME: 'Acme',
};

let world: World;
let withProvider: World;
let browser: Browser;
let ada: { id: number; email: string };
beforeAll(async () => {
  world = await createOwnWorld();
  withProvider = await createOwnWorld({ env: WITH_PROVIDER });
  browser = await openBrowser();
  await mkdir(FOLDER, { recursive: true });
  const email = 'ada@example.com';
  ada = await world.admin.createUser({
    body: { username: 'ada', email, firstName: 'Ada Lovelace', password: PASSWORD, roles: ['Developer'] },
  });
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([world?.stop(), withProvider?.stop()]);
});

test.each(SIZES)('$name', async ({ name, viewport, colorScheme }) => {
  const context = await browser.newContext({ baseURL: world.url, viewport, colorScheme });
  const page = await context.newPage();
  const keep = (what: string) => save(page, `${what}-${name}`);

  await page.goto('/sign-in');
  await keep('sign-in');
  await signIn(page, 'wrong password');
  await keep('sign-in-wrong');
  const { url } = await world.admin.createResetLink({ id: ada.id, body: {} });
  await page.goto(url.replace(/^https?:\/\/[^/]+/, world.url));
  await keep('reset-password');
  await page.goto('/reset-password?link=used-before');
  await keep('link-not-valid');
  const username = unique('grace');
  const invited = { username, email: 'grace@example.com', firstName: 'Grace' };
  const { id, invitationUrl } = await world.admin.createUser({ body: invited });
  await page.goto(invitationUrl!.replace(/^https?:\/\/[^/]+/, world.url));
  await keep('invitation');
  await world.admin.deleteUser({ id });

  await page.goto('/sign-in');
  await signIn(page, PASSWORD);
  await page.goto('/device');
  await keep('device');
  const { userCode } = (await world.client().createDeviceCode({
    body: { clientId: 'oriel-cli' },
  })) as { userCode: string };
  await page.fill('#user_code', userCode);
  await page.getByRole('button', { name: 'Continue' }).click();
  await keep('device-question');
  await page.getByRole('button', { name: 'Approve' }).click();
  await keep('device-connected');
  await page.goto('/device');
  await page.getByRole('button', { name: 'Use another account' }).click();

  await world.admin.updateAppConfig({ body: THEME });
  await expect.poll(() => page.goto('/sign-in').then(() => page.title())).toContain('Acme');
  await keep('theme');
  await world.admin.updateAppConfig({
    body: { appTheme: null, applyThemeGlobally: false, creatorMode: null },
  });
  await expect.poll(() => page.goto('/sign-in').then(() => page.title())).toContain('Oriel');
  await context.close();
});

test.each(SIZES)('an address without a page, $name', async ({ name, viewport, colorScheme }) => {
  const context = await browser.newContext({ baseURL: world.url, viewport, colorScheme });
  const page = await context.newPage();
  await page.goto('/dashboards/of-last-year');
  await save(page, `not-found-${name}`);
  await context.close();
});

test.each(SIZES)('the reference, $name', async ({ name, viewport, colorScheme }) => {
  const context = await browser.newContext({ baseURL: world.url, viewport, colorScheme });
  const page = await context.newPage();
  await page.goto('/docs');
  await page.locator('.opblock-tag').first().waitFor();
  // The page is very long, so only what is in sight is kept.
  await save(page, `reference-${name}`, { fullPage: false });
  await page.fill('#key', ADMIN_KEY);
  await page.fill('#find', 'set variables');
  const operation = page.locator('.opblock[id$="-setEnvVariables"]');
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('.try-out__btn').click();
  await operation.getByPlaceholder('deploymentId').fill('404');
  await operation.locator('.execute').click();
  await operation.locator('.live-responses-table .response').waitFor();
  await operation.locator('.execute').scrollIntoViewIfNeeded();
  await save(page, `reference-operation-${name}`, { fullPage: false });
  await context.close();
});

test.each(SIZES)('with a provider, $name', async ({ name, viewport, colorScheme }) => {
  const context = await browser.newContext({ baseURL: withProvider.url, viewport, colorScheme });
  const page = await context.newPage();
  await page.goto('/sign-in');
  await save(page, `sign-in-provider-${name}`);
  await page.goto('/sign-in?notice=signed-out');
  await save(page, `signed-out-provider-${name}`);
  const invited = { username: unique('grace'), email: 'grace@example.com', firstName: 'Grace' };
  const { id, invitationUrl } = await withProvider.admin.createUser({ body: invited });
  await page.goto(invitationUrl!);
  await save(page, `invitation-provider-${name}`);
  await withProvider.admin.deleteUser({ id });
  await context.close();
});

test('two customers in the page of a product', async () => {
  const demo = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  const host = createHost({ oriel: demo.url, apiKey: ADMIN_KEY });
  try {
    await whenBuilt(demo, 1);
    await once(host.listen(0, '127.0.0.1'), 'listening');
    const page = await browser.newPage({ viewport: { width: 1680, height: 1060 }, locale: 'en-US' });
    await page.goto(`http://localhost:${(host.address() as AddressInfo).port}`);
    await expect.poll(() => page.getByText('Live', { exact: true }).count(), { timeout: 150_000 }).toBe(2);
    await save(page, 'host-demo');
    await page.close();
  } finally {
    host.close().closeAllConnections();
    await demo.stop();
  }
});

async function signIn(page: Page, password: string) {
  await page.fill('#username', ada.email);
  await page.fill('#password', password);
  await page.click('button');
}

async function save(page: Page, name: string, { fullPage = true } = {}) {
  expect(await page.title()).not.toBe('');
  await page.screenshot({
    path: join(FOLDER, `${name}.png`),
    fullPage,
    animations: 'disabled',
    caret: 'hide',
  });
}
