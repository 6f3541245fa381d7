/** The reference at /docs, in a browser: it needs nothing from elsewhere, finds operations, and calls them with the key. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from './browser.ts';
import { ADMIN_KEY, createOwnWorld, type World } from './world.ts';

let world: World;
let browser: Browser;
beforeAll(async () => {
  [world, browser] = await Promise.all([createOwnWorld(), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

/** Calls the operation with the example that the page shows, and returns the status and the body that it shows. */
async function execute(page: Page, find: string, id: string) {
  await page.fill('#find', find);
  const operation = page.locator(`.opblock[id$="-${id}"]`);
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('.try-out__btn').click();
  await operation.locator('.execute').click();
  const reply = operation.locator('.live-responses-table .response');
  const status = (await reply.locator('.response-col_status').innerText()).trim().split('\n')[0];
  return { status, body: await reply.locator('.response-col_description').innerText() };
}

test('a reader finds an operation, gives the key once and calls it, and then another one', async () => {
  const page = await browser.newPage({ baseURL: world.url, colorScheme: 'light' });
  const wrong: string[] = [];
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(world.url) && !request.url().startsWith('data:')) wrong.push(request.url());
  });
  await page.goto('/docs');
  await page.locator('.opblock-tag').first().waitFor();
  expect(await page.locator('.opblock-tag').first().getAttribute('data-tag')).toBe('Users');
  await page.fill('#key', ADMIN_KEY);
  expect(await page.locator('#sent').innerText()).toContain('Api-Key');

  const me = await execute(page, 'users/me credential belongs', 'getMe');
  expect(me.status).toBe('200');
  expect(me.body).toContain('"isAdmin": true');
  const created = await execute(page, 'createUserGroup', 'createUserGroup');
  expect([created.status, created.body]).toEqual(['200', expect.stringContaining('"finance"')]);
  expect(await world.admin.listUserGroups({})).toMatchObject({ items: [{ name: 'finance' }] });

  // What an address needs is filled in.
  await page.fill('#find', 'set variables');
  const operation = page.locator('.opblock[id$="-setEnvVariables"]');
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('.try-out__btn').click();
  expect(await operation.getByPlaceholder('deploymentId').inputValue()).toBe('1');

  const colour = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const light = await colour();
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(colour).not.toBe(light);
  expect(wrong).toEqual([]);
  await page.close();
});
