/** The reference at /docs, in a browser: it needs nothing from elsewhere, finds operations, and calls them with the key. */
import { allOperations, openApiDocument } from '@oriel/contract';
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
  expect(await page.locator('.opblock-tag').first().getAttribute('data-tag')).toBe('Embed');
  await page.fill('#key', ADMIN_KEY);
  expect(await page.locator('#sent').innerText()).toContain('Api-Key');

  const me = await execute(page, 'users/me credential belongs', 'getMe');
  expect(me.status).toBe('200');
  expect(me.body).toContain('"isAdmin": true');
  const command = await page.locator('.opblock[id$="-getMe"] .curl').innerText();
  expect(command).toContain('-H "Authorization: Api-Key $ORIEL_API_KEY"');
  expect(await page.locator('#reference').innerText()).not.toContain(ADMIN_KEY);
  for (const pasted of [`export ORIEL_ADMIN_API_KEY=${ADMIN_KEY}`, `Bearer ${ADMIN_KEY}`, `"${ADMIN_KEY}"`]) {
    await page.fill('#key', pasted);
    const sending = page.waitForRequest('**/users/me');
    await page.locator('.opblock[id$="-getMe"] .execute').click();
    expect((await sending).headers().authorization).toBe(`Api-Key ${ADMIN_KEY}`);
  }
  const created = await execute(page, 'createUserGroup', 'createUserGroup');
  expect([created.status, created.body]).toEqual(['200', expect.stringContaining('"finance"')]);
  expect(await world.admin.listUserGroups({})).toMatchObject({ items: [{ name: 'finance' }] });

  await page.fill('#find', 'no such words');
  expect(await page.locator('#found').innerText()).toBe('No operation has these words.');

  // What an address needs is filled in.
  await page.fill('#find', 'set variables');
  const operation = page.locator('.opblock[id$="-setEnvVariables"]');
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('.try-out__btn').click();
  expect(await operation.getByPlaceholder('deploymentId').inputValue()).toBe('1');
  expect(await page.locator('#found').innerText()).toBe('');

  const colour = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const light = await colour();
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(colour).not.toBe(light);
  expect(wrong).toEqual([]);
  await page.close();
});

test('the large script is sent compressed, and only once', async () => {
  const url = `${world.url}/docs/swagger-ui-bundle.js`;
  const first = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
  expect(first.headers.get('content-encoding')).toBe('gzip');
  expect(await first.text()).toContain('SwaggerUIBundle');
  const etag = first.headers.get('etag')!;
  expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
});

test('every parameter that an address needs has an example', () => {
  const { paths } = openApiDocument(allOperations) as {
    paths: Record<string, Record<string, { parameters?: Parameter[] }>>;
  };
  type Parameter = { name?: string; required?: boolean; example?: unknown };
  const without = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ parameters = [] }) =>
      parameters
        .filter(({ required, example }) => required && example === undefined)
        .map(({ name }) => `${path}: ${name}`),
    ),
  );
  expect(without).toEqual([]);
});
