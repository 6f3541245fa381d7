/** The app in a real browser, as people and creators use it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishWith, saveQuestion, shareWith } from '../../../test/app-steps.ts';
import { openBrowser, PHONE } from '../../../test/browser.ts';
import { embed, type HostSite, startHost } from '../../../test/embedded-page.ts';
import { createShop } from '../../../test/shops.ts';
import { createSignable, PASSWORD } from '../../../test/sign-in.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let browser: Browser;
let host: HostSite;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  browser = await openBrowser();
  host = await startHost();
  deploymentId = (await world.deployment()).id;
});
afterAll(async () => {
  await browser?.close();
  await host?.stop();
  await world?.stop();
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The accessibility problems of the page. */
const violations = (page: Page | Frame) =>
  page.evaluate(
    `(() => { const module = undefined, exports = undefined; ${axe}; return axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' '))); })()`,
  );

/** Everything that people type is shown as text. */
const NAME = '<img src=x onerror=alert(1)> "Quarter" & Co';

test('a new admin signs in, makes a folder and a workbook, finds, renames by keys, deletes and undoes', async () => {
  const admin = await createSignable(world, { roles: ['Admin'] });
  const context = await browser.newContext({ baseURL: world.url, locale: 'en-US' });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('dialog', (dialog) => void dialog.dismiss().then(() => errors.push('a script ran')));

  await page.goto(`/d/${deploymentId}`);
  await page.fill('#username', admin.email);
  await page.fill('#password', PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`/d/${deploymentId}`);
  // From here on: the page with the form to sign in was a 401.
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.getByText('This folder is empty').waitFor();
  expect(await violations(page)).toEqual([]);

  const answer = async (button: string, name: string) => {
    await page.getByRole('dialog').getByLabel('Name').fill(name);
    await page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click();
  };
  await page.getByRole('button', { name: 'New folder' }).click();
  await answer('Create', NAME);
  await page.getByRole('link', { name: NAME }).last().click();
  await page.getByRole('heading', { level: 1, name: NAME }).waitFor();
  await page.getByRole('button', { name: 'New workbook' }).first().click();
  await answer('Create', 'Revenue');
  await page.getByRole('heading', { level: 1, name: 'Revenue' }).waitFor();
  expect(page.url()).toMatch(/\/workbooks\/\d+$/);
  expect(await violations(page)).toEqual([]);

  const workbookId = Number(page.url().split('/').at(-1));
  await world.admin.createReport({ deploymentId, body: { name: 'Orders by day', workbookId } });

  // From anywhere, by keys alone. What is found tells where it is.
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.type('by day');
  await page
    .getByRole('option', { name: 'Orders by day' })
    .filter({ hasText: `${NAME} / Revenue` })
    .waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.type('quarter');
  await page.getByRole('option', { name: NAME }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: NAME }).waitFor();
  const row = page.locator('a.item-name', { hasText: 'Revenue' });
  await page.getByRole('button', { name: 'Actions for Revenue' }).waitFor();
  await row.focus();
  // The rights on the item are requested apart from the list, so they may come later.
  await expect
    .poll(async () => {
      await page.keyboard.press('F2');
      return page.getByRole('dialog').count();
    })
    .toBe(1);
  await page.keyboard.type('Net revenue');
  await page.keyboard.press('Enter');
  const renamed = page.locator('a.item-name', { hasText: 'Net revenue' });
  await renamed.waitFor();
  await renamed.focus();
  await page.keyboard.press('Delete');
  await expect.poll(() => renamed.count()).toBe(0);
  const items = async () => (await world.admin.getWorkbooks({ deploymentId })).items.map(({ name }) => name);
  expect(await items()).toEqual(['Net revenue']);
  await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Undo' }).last().click();
  await renamed.waitFor();
  // Without a way back it is gone, also for the server.
  await renamed.focus();
  await page.keyboard.press('Delete');
  await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Close' }).last().click();
  await expect.poll(items).toEqual([]);

  await page.setViewportSize(PHONE);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.getByRole('button', { name: 'Show pages' }).click();
  await page.getByRole('link', { name: 'Home', exact: true }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  expect(await violations(page)).toEqual([]);
  expect(errors).toEqual([]);
  await context.close();
});

test('two creators of two embed tenants build in a frame, and never see each other', async () => {
  const names = [unique('acme'), unique('globex')] as const;
  const sessionFor = async (embedTenantName: string) =>
    (
      await world.admin.generateSession({
        body: { deploymentId, externalId: unique('creator'), embedTenantName, creatorMode: true },
      })
    ).sessionId;
  const addresses = await Promise.all(
    names.map(async (name) => `${world.url}/embed/d/${deploymentId}/app#session=${await sessionFor(name)}`),
  );
  const embedding = await embed(browser, host.origin, addresses);
  for (const [index, name] of names.entries()) {
    expect(await embedding.heard('ready', index)).toMatchObject({ embedTenant: name, surface: 'app' });
    const frame = embedding.frame(index);
    await frame.getByRole('button', { name: 'New workbook' }).first().click();
    await frame.getByRole('dialog').getByLabel('Name').fill(`Workbook of ${name}`);
    await frame.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await frame.getByRole('heading', { level: 1, name: `Workbook of ${name}` }).waitFor();
    expect(await embedding.heard('navigate', index)).toMatchObject({
      path: expect.stringMatching(/\/app\/workbooks\/\d+$/),
    });
  }
  const [path] = (await embedding.events('navigate', 0)).map(({ data }) => String(data.payload.path));
  // The other tenant is sent to the address of this workbook, and finds nothing there.
  await embedding.act('navigate', { path }, 1);
  await embedding.frame(1).getByText('There is nothing at this address').waitFor();
  await embedding.act('navigate', { path: `/embed/d/${deploymentId}/app` }, 1);
  await embedding
    .frame(1)
    .getByRole('link', { name: `Workbook of ${names[1]}` })
    .waitFor();
  expect(await embedding.frame(1).getByText(names[0]).count()).toBe(0);
  expect(await violations(embedding.frame(1))).toEqual([]);
  // Nothing of the session is left in the browser.
  expect(await embedding.context.cookies(world.url)).toEqual([]);
  for (const index of [0, 1]) {
    expect(embedding.frame(index).url()).not.toContain('session');
    expect(await embedding.frame(index).evaluate('localStorage.length + sessionStorage.length')).toBe(0);
  }
  await embedding.act('set-locale', { locale: 'de' }, 1);
  await embedding.frame(1).getByRole('heading', { level: 1, name: 'Start' }).waitFor();
  await world.admin.revokeEmbedSessions({ body: { embedTenantName: names[1] } });
  expect(await embedding.heard('session-expired', 1)).toEqual({ reason: 'revoked' });
  await expect.poll(() => embedding.frame(1).getByText(names[1]).count()).toBe(0);
  await embedding.close();
});

test('creators of two embed tenants ask, save, publish and share with a group, and never see the other', async () => {
  const shop = await createShop(world);
  const tenants = ['acme', 'globex'].map((name) => unique(name).replaceAll('_', '-'));
  const group = unique('sales');
  const session = async (embedTenantName: string, given: object) =>
    (await world.admin.generateSession({ body: { deploymentId: shop, embedTenantName, ...given } }))
      .sessionId;
  const creator = { creatorMode: true, groupDefinitions: [{ name: group }] };
  for (const tenant of tenants)
    await session(tenant, { ...creator, externalId: 'fellow', tenantGroups: [group] });
  const addresses = await Promise.all(
    tenants.map(
      async (tenant) =>
        `${world.url}/embed/d/${shop}/app#session=${await session(tenant, { ...creator, externalId: 'author' })}`,
    ),
  );
  // What the account and the deployment set is what creators get.
  await world.admin.updateDeployment({
    deploymentId: shop,
    body: { launchpadTabs: ['semantic_search'], defaultLaunchpadViewGroup: 'sales' } as never,
  });
  const titled = {
    workspaceTitle: 'Your numbers',
    localizedTitles: [{ locale: 'de', value: 'Ihre Zahlen' }],
  };
  await world.admin.updateAppConfig({ body: { creatorMode: titled } });
  const embedding = await embed(browser, host.origin, addresses);
  const publicIds: string[] = [];
  for (const [index, tenant] of tenants.entries()) {
    await embedding.heard('ready', index);
    const frame = embedding.frame(index);
    const name = `Orders of ${tenant}`;
    await frame.getByText('Your numbers').waitFor();
    await frame.getByRole('link', { name: 'Explore', exact: true }).click();
    expect(await frame.locator('.source-card').first().innerText()).toMatch(/^Sales/i);
    for (const hidden of ['Write SQL', 'Paste a query'])
      expect(await frame.getByRole('button', { name: hidden }).count()).toBe(0);
    await saveQuestion(frame, /^Sales/i, ['Count', 'State'], name);
    await embedding.act('navigate', { path: `/embed/d/${shop}/app` }, index);
    await frame.getByRole('link', { name }).first().click();
    await frame.getByRole('link', { name: 'Make a dashboard' }).click();
    await publishWith(frame, name);
    await embedding.act('navigate', { path: `/embed/d/${shop}/app` }, index);
    await frame.getByRole('link', { name }).first().click();
    await shareWith(frame, group);
    const { items } = await world.admin.getWorkbooks({ deploymentId: shop, embedTenantName: tenant });
    const { publishedDashboard } = await world.admin.getWorkbook({
      deploymentId: shop,
      workbookId: items[0]!.id,
    });
    publicIds.push(publishedDashboard!.publicId);
    expect(await violations(frame)).toEqual([]);
  }
  for (const [index, tenant] of tenants.entries()) {
    const frame = embedding.frame(index);
    await embedding.act('navigate', { path: `/embed/d/${shop}/app` }, index);
    await frame
      .getByRole('link', { name: `Orders of ${tenant}` })
      .first()
      .waitFor();
    expect(await frame.getByText(tenants[1 - index]!).count()).toBe(0);
  }
  await embedding.act('set-locale', { locale: 'de' }, 0);
  await embedding.frame(0).getByText('Ihre Zahlen').waitFor();
  await world.admin.updateAppConfig({ body: { creatorMode: null } });
  await embedding.close();

  // The fellow of each one sees its own dashboard, and the other one is not there.
  const shown = await Promise.all(
    tenants.map(async (tenant) => {
      const { client } = await world.embedded({
        deploymentId: shop,
        embedTenantName: tenant,
        externalId: 'fellow',
      });
      const see = (publicId: string) =>
        client.getDashboard({ publicId }).then(
          () => 200,
          ({ status }) => status,
        );
      return Promise.all(publicIds.map(see));
    }),
  );
  expect(shown).toEqual([
    [200, 404],
    [404, 200],
  ]);
});
