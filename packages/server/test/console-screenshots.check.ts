/**
 * Takes the screenshots of the console in docs/images, with the demo: `npm run screenshots`. `ORIEL_SCREENSHOTS_ALL` names
 * another folder, which gets every page of the console in light, dark and on a phone, to look at.
 */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { ROUTES, type RouteName } from '../../app/src/routes.ts';
import { openBrowser } from './browser.ts';
import { whenBuilt } from './shops.ts';
import { PASSWORD } from './sign-in.ts';
import { createOwnWorld, type World } from './world.ts';

const FOLDER = join(import.meta.dirname, '../../../docs/images');
const ALL = process.env.ORIEL_SCREENSHOTS_ALL;
const WIDE = { width: 1280, height: 860 };
const SIZES = [
  { name: 'light', viewport: WIDE, colorScheme: 'light' },
  { name: 'dark', viewport: WIDE, colorScheme: 'dark' },
  { name: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
] as const;
const SETTLE_MS = 1500;

const deploymentId = 1;
const TENANTS = ['acme-corp', 'globex', 'initech'];
let world: World;
let browser: Browser;
const email = 'ada@example.com';
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  await whenBuilt(world, deploymentId);
  await world.admin.createUser({
    body: { username: 'ada', email, firstName: 'Ada Lovelace', password: PASSWORD, roles: ['Admin'] },
  });
  for (const [name, role] of [
    ['Grace Hopper', 'Developer'],
    ['Alan Turing', 'Explorer'],
    ['Katherine Johnson', 'Viewer'],
  ] as const) {
    const username = name.toLowerCase().replace(' ', '.');
    await world.admin.createUser({
      body: { username, email: `${username}@example.com`, firstName: name, roles: [role] },
    });
  }
  // Some use, so that lists have rows.
  for (const [i, embedTenantName] of TENANTS.entries())
    for (let j = 0; j <= i; j++) {
      const viewer = { deploymentId, embedTenantName, externalId: `customer-${40 + j}` };
      await world.embedded({
        ...viewer,
        userAttributes: j ? [{ name: 'region', value: 'EU' }] : [],
      });
    }
  for (const [name, url, events] of [
    ['Chat', 'https://hooks.example.com/oriel', ['dashboard.published', 'build.failed']],
    ['Audit archive', 'https://archive.example.com/events', ['*']],
  ] as const)
    await world.admin.createWebhook({ body: { name, url, events: [...events] } });
  await world.admin.createApiKey({ body: { name: 'Backend of the shop', deploymentIds: [deploymentId] } });
  await world.admin.load({ deploymentId, body: { query: { measures: ['orders.count'] } } }).catch(() => {});
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

async function signIn({ viewport, colorScheme }: Omit<(typeof SIZES)[number], 'name'>) {
  const context = await browser.newContext({ baseURL: world.url, viewport, colorScheme, locale: 'en-US' });
  const page = await context.newPage();
  await page.goto('/sign-in');
  await page.fill('#username', email);
  await page.fill('#password', PASSWORD);
  await page.locator('#password').press('Enter');
  await page.waitForURL((url) => !url.pathname.includes('sign-in'));
  return page;
}

const open = async (page: Page, route: RouteName, query = '') => {
  await page.goto(`/d/${deploymentId}${ROUTES[route]}${query}`);
  await page.locator('main h1').first().waitFor();
  await page.waitForTimeout(SETTLE_MS);
};

/** What the docs show, and what is done before the picture is taken. */
const SHOWN: [name: string, route: RouteName, query?: string, act?: (page: Page) => Promise<unknown>][] = [
  [
    'data-sources',
    'adminSources',
    '',
    async (page) => {
      await page.getByRole('checkbox', { name: 'Choose files.orders' }).check();
      await page.getByRole('checkbox', { name: 'Choose files.customers' }).check();
      await page.getByRole('button', { name: 'Draft a model' }).click();
      await page.getByRole('button', { name: /^Write 2 files/ }).waitFor();
    },
  ],
  [
    'policies',
    'adminPolicies',
    '',
    async (page) => {
      const show = page.getByRole('button', { name: 'Show what they see' });
      await show.click();
      await page.getByRole('button', { name: 'Myself', exact: true }).waitFor();
      await page.getByRole('radio', { name: 'An embed viewer' }).check();
      await page.getByLabel('Attributes, one in each line').fill('region = EU');
      await show.click();
      await page.getByRole('button', { name: 'region=EU' }).waitFor();
    },
  ],
  ['users', 'adminUsers'],
  ['sign-in-set-up', 'adminSignIn'],
  ['tenant', 'adminTenants', '?name=globex'],
  ['viewer', 'adminViewer', '?tenant=globex&externalId=customer-40'],
  ['embedding', 'adminEmbedding'],
  ['sessions', 'adminSessions'],
  ['webhooks', 'adminWebhooks'],
  ['usage', 'adminUsage'],
  ['deployment', 'adminDeployment'],
  ['audit-log', 'adminAuditLog'],
  // The first figures are there after a minute.
  ['servers', 'adminServers', '', (page) => page.locator('.bars').first().waitFor()],
];

describe.runIf(!ALL)('for the docs', () => {
  test.each(SIZES)('the account, $name', async ({ name, ...size }) => {
    const page = await signIn(size);
    await open(page, 'account');
    await page.screenshot({ path: join(FOLDER, `account-${name}.png`), fullPage: true, caret: 'hide' });
    await page.context().close();
  });

  test('pictures', async () => {
    const page = await signIn(SIZES[0]);
    for (const [name, route, query, act] of SHOWN) {
      await open(page, route, query);
      await act?.(page);
      await page.evaluate('scrollTo(0, 0)');
      await page.waitForTimeout(SETTLE_MS);
      await page.screenshot({
        path: join(FOLDER, `console-${name}.png`),
        animations: 'disabled',
        caret: 'hide',
      });
    }
  });
});

describe.runIf(ALL)('to look at', () => {
  test.each(SIZES)('$name', async ({ name, ...size }) => {
    const page = await signIn(size);
    const routes = (Object.keys(ROUTES) as RouteName[]).filter((one) => /^admin|^account/.test(one));
    for (const route of routes) {
      await open(page, route);
      await page.screenshot({ path: join(ALL!, `${route}-${name}.png`), fullPage: true });
    }
    for (const [shown, route, query, act] of SHOWN.filter(([, , query, act]) => query || act)) {
      await open(page, route, query);
      await act?.(page);
      await page.evaluate('scrollTo(0, 0)');
      await page.waitForTimeout(SETTLE_MS);
      await page.screenshot({ path: join(ALL!, `${shown}-${name}.png`), fullPage: true });
    }
  });
});
