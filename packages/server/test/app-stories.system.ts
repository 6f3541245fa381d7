/** The way of a new admin to a first dashboard, and every page of the app with texts that try to run as script. */
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROUTES } from '../../app/src/routes.ts';
import { publishWith, saveQuestion, shareWith } from './app-steps.ts';
import { openBrowser } from './browser.ts';
import { HOSTILE } from './hostile-texts.ts';
import { integrationOf } from './oauth.ts';
import { deployModel, whenBuilt } from './shops.ts';
import { createSignable, PASSWORD, type Signable } from './sign-in.ts';
import { createOwnWorld, unique, type World } from './world.ts';

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

async function open({ email }: Signable, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({
    baseURL: world.url,
    locale: 'en-US',
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  const page = await context.newPage();
  await page.goto(`/sign-in?next=/d/${deploymentId}`);
  await page.fill('input[name=username]', email);
  await page.fill('input[name=password]', PASSWORD);
  await page.locator('input[name=password]').press('Enter');
  await page.waitForURL(`/d/${deploymentId}`);
  return { page, context };
}

const WCAG = { type: 'tag' as const, values: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] };
/** The only rule that depends on the colour scheme. */
const COLORS = { type: 'rule' as const, values: ['color-contrast'] };

const violations = async (page: Page, runOnly: typeof WCAG | typeof COLORS = WCAG) => {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  const { violations: found } = await page.evaluate(
    (runOnly) => (globalThis as unknown as { axe: typeof axe }).axe.run({ runOnly }),
    runOnly,
  );
  return found.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))]);
};

test('a new admin follows the first steps to a published dashboard, which a viewer sees', async () => {
  const viewer = await createSignable(world, { roles: ['Viewer'] });
  await world.admin.updateUser({ id: viewer.id, body: { firstName: 'Vera' } });
  const { page, context } = await open(await createSignable(world, { roles: ['Admin'] }));
  const steps = (done: number) =>
    page.getByRole('heading', { name: `First steps: ${done} of 6 done` }).waitFor();
  const home = () => page.getByRole('link', { name: 'Home', exact: true }).first().click();
  const step = (name: string) => page.getByRole('link', { name, exact: true }).click();

  // There are people already, which is one step. The data, the model and the dashboards of the demo count for none.
  await steps(1);
  await step('Make a first chart');
  await saveQuestion(page, /^Sales/, ['Revenue', 'Product Category'], 'Revenue by category');
  await home();
  await steps(2);
  await step('Publish a dashboard');
  await publishWith(page, 'Revenue by category');
  await home();
  await steps(3);
  await step('Embed it');
  await page.waitForURL(/\/workbooks\/\d+\/embed$/);
  await home();
  await page.getByRole('link', { name: 'Revenue by category' }).first().click();
  await shareWith(page, 'Vera');
  await world.embedded({ deploymentId, externalId: 'ann', embedTenantName: 'acme-corp' });
  // The session was minted elsewhere, so the page has to ask again.
  await page.goto(`/d/${deploymentId}`);
  await page.getByRole('link', { name: 'Revenue by category' }).first().waitFor();
  await steps(4);
  await context.close();

  const seen = await open(viewer);
  // Whatever a role may not do is not offered.
  await seen.page.getByRole('link', { name: 'Shared with me' }).click();
  await seen.page.getByRole('link', { name: 'Revenue by category' }).first().click();
  const link = seen.page.getByRole('link', { name: 'View dashboard' });
  await link.waitFor();
  for (const name of ['Explore', 'Admin', 'Edit dashboard'])
    expect(await seen.page.getByRole('link', { name, exact: true }).count()).toBe(0);
  expect(await seen.page.getByRole('button', { name: 'Share…' }).count()).toBe(0);
  await seen.page.goto((await link.getAttribute('href'))!);
  await seen.page.getByText('Revenue by category').first().waitFor();
  await seen.context.close();
});

const TABS_MAX = 250;

/** Moves the focus to the target by keys, as a person without a mouse does. */
async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab') {
  await target.first().waitFor();
  const isThere = () =>
    target
      .first()
      .evaluate((element) => (element as never as { matches(by: string): boolean }).matches(':focus'));
  for (let pressed = 0; !(await isThere()); pressed++) {
    if (pressed === TABS_MAX) throw new Error(`${target} cannot be reached by the Tab key`);
    await page.keyboard.press(key);
  }
}

test('somebody without a mouse asks a question, charts it, saves it, arranges a dashboard and publishes it', async () => {
  const { page, context } = await open(await createSignable(world, { roles: ['Admin'] }));
  const press = async (target: Locator, key = 'Enter') => {
    await tabTo(page, target);
    await page.keyboard.press(key);
  };
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  await press(page.getByRole('link', { name: 'Explore', exact: true }));
  await tabTo(page, page.getByRole('searchbox', { name: /Search views/ }));
  await page.keyboard.type('revenue');
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByRole('searchbox', { name: 'Search fields' }));
  await page.keyboard.type('Product Category');
  await press(button('Add Product Category'));
  await press(page.getByRole('radio', { name: 'Donut' }), 'Space');
  await page.getByRole('radio', { name: 'Donut', checked: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await press(button('Save'));
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await tabTo(page, dialog.getByLabel('Name'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('By keys');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/workbooks\/\d+\/reports\/\d+$/);

  // The palette finds the workbook.
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search, or choose a command' }).waitFor();
  await page.keyboard.type('By keys');
  await page
    .getByRole('option', { name: /By keys/ })
    .first()
    .waitFor();
  await page.keyboard.press('Escape');
  const workbookId = /workbooks\/(\d+)/.exec(page.url())![1];
  await page.goto(`/d/${deploymentId}/workbooks/${workbookId}`);
  await press(page.getByRole('link', { name: 'Make a dashboard' }));
  await press(button('By keys'));
  const slot = page.getByRole('group', { name: /^By keys, / });
  await tabTo(page, slot);
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => slot.getAttribute('aria-label')).toContain('column 2, row 1');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Control+z');
  expect(await violations(page)).toEqual([]);
  // The tools are before the widgets.
  await tabTo(page, button('Publish'), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await dialog.getByText('published for the first time').waitFor();
  await press(dialog.getByRole('button', { name: 'Publish', exact: true }));
  await page.getByText('Viewers see version 1').waitFor();
  await context.close();
});

/** The most that a field with names takes. */
const NAME = HOSTILE.join(' ').slice(0, 100).trim();
const LONG = HOSTILE.join(' ');
const START = HOSTILE[0]!;

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Puts the texts into every field that people write. */
async function poison() {
  const at = { deploymentId };
  const admin = await createSignable(world, { roles: ['Admin'] });
  await world.admin.updateUser({ id: admin.id, body: { firstName: NAME } });
  const client = world.admin;
  const group = await client.createUserGroup({ body: { name: NAME, description: LONG.slice(0, 500) } });
  await client.createRole({
    body: { name: NAME, description: LONG.slice(0, 500), actions: ['DeploymentRead'] },
  });
  await client.createApiKey({ body: { name: NAME, userId: admin.id } } as never);
  await client.createUserAttribute({
    body: { name: unique('hostile'), type: 'string', displayName: NAME, description: LONG.slice(0, 500) },
  } as never);
  const folder = await client.createFolder({ ...at, body: { name: NAME } });
  const workbook = await client.createWorkbook({ ...at, body: { name: NAME, folderId: folder.id } });
  const query = {
    measures: ['sales.revenue'],
    dimensions: ['sales.product_category'],
    filters: [{ member: 'sales.product_category', operator: 'notEquals', values: [START] }],
  };
  const report = await client.createReport({
    ...at,
    body: {
      name: NAME,
      title: NAME,
      description: LONG,
      workbookId: workbook.id,
      jsonQuery: JSON.stringify(query),
      meta: {
        visualization: {
          type: 'column',
          axes: { x: { title: LONG.slice(0, 255) } },
          series: { 'sales.revenue': { title: NAME } },
        },
      },
    } as never,
  });
  const widgets = [
    {
      id: 'chart',
      type: 'CHART',
      position: { x: 0, y: 0, w: 6, h: 8 },
      config: { reportId: report.id, title: NAME },
    },
    {
      id: 'text',
      type: 'TEXT',
      position: { x: 6, y: 0, w: 6, h: 8 },
      config: { markdown: LONG, title: NAME },
    },
    {
      id: 'filter',
      type: 'FILTER',
      position: { x: 0, y: 8, w: 6, h: 2 },
      config: {
        member: 'sales.product_category',
        title: NAME,
        kind: 'select',
        default: { operator: 'equals', value: [START] },
      },
    },
  ];
  widgets.push(
    {
      id: 'grain',
      type: 'TIME_GRAIN',
      position: { x: 6, y: 8, w: 6, h: 2 },
      config: { member: 'sales.ordered_at', grains: ['month'], title: NAME } as never,
    },
    {
      id: 'box',
      type: 'CONTAINER',
      position: { x: 0, y: 10, w: 12, h: 6 },
      config: { title: NAME, tabs: [{ title: NAME, widgets: ['text'] }, { title: START }] } as never,
    },
    {
      id: 'picture',
      type: 'TEXT',
      position: { x: 0, y: 16, w: 6, h: 4 },
      config: { image: PIXEL, alt: NAME } as never,
    },
  );
  const config = {
    kind: 'CLASSIC',
    title: NAME,
    description: LONG,
    layout: { cols: { lg: 12 }, rowHeight: 40, margin: [16, 16] },
    widgets,
  };
  await client.updateWorkbookDashboard({
    ...at,
    workbookId: workbook.id,
    body: { dashboardDraft: config as never },
  });
  const { publicId } = await client.publishDashboard({
    ...at,
    workbookId: workbook.id,
    body: { config, title: NAME, note: NAME, allowEmbed: true } as never,
  });
  await client.createNotification({
    ...at,
    body: { dashboardPublicId: publicId, scheduleType: 'DAILY', hour: 6, name: NAME },
  });
  await client.createWebhook({
    body: { name: NAME, url: 'https://hooks.example.com', events: ['*'], isEnabled: false },
  });
  await client.createOAuthIntegration({
    body: integrationOf(world, 'https://login.example.com', { name: NAME }) as never,
  });
  const embedTenantName = 'hostile-corp';
  await world.embedded({
    deploymentId,
    externalId: START,
    embedTenantName,
    creatorMode: true,
    userProfile: { displayName: NAME },
    embedTenantProfile: { displayName: NAME },
    securityContext: { plan: NAME },
  });
  await client.createGroup({ embedTenantName, body: { name: NAME, description: LONG.slice(0, 500) } });
  await client.setGroupPolicy({
    body: { resourceType: 'Workbook', resourceId: workbook.id, groupId: group.id, action: 'WorkbookRead' },
  });
  await client.setUserPolicy({
    body: { resourceType: 'Workbook', resourceId: workbook.id, userId: admin.id, action: 'WorkbookRead' },
  });
  return {
    admin,
    ids: { folderId: folder.id, workbookId: workbook.id, reportId: report.id } as Record<string, number>,
  };
}

/** Waits until a page shows what it has, and no skeleton is left. */
async function settled(page: Page) {
  await page.locator('main h1, main h2, main [role=alert]').first().waitFor();
  await expect.poll(() => page.locator('main .skeleton').count()).toBe(0);
}

test('texts that try to run as script are shown as texts on every page, which people with disabilities can read', async () => {
  const { admin, ids } = await poison();
  const { page, context } = await open(admin);
  const strange: string[] = [];
  page.on('request', (request) => request.url().includes('evil.invalid') && strange.push(request.url()));
  page.on('dialog', (dialog) => void dialog.dismiss().then(() => strange.push(dialog.message())));
  page.on('pageerror', (error) => strange.push(String(error)));
  const isHacked = () => page.evaluate('window.hacked');
  const barriers: unknown[] = [];
  const hidden: string[] = [];
  const showsText = `document.body.innerText.includes(${JSON.stringify(START)}) ||
    [...document.querySelectorAll('input, textarea')].some(({ value }) => value.includes(${JSON.stringify(START)}))`;
  /** The pages that show a name. */
  const shows: string[] = ['home', 'folder', 'workbook', 'dashboard', 'embed', 'report', 'reportInWorkbook'];
  shows.push('adminUsers', 'adminGroups', 'adminRoles', 'adminApiKeys', 'adminAttributes');
  const going = Object.entries(ROUTES).map(([route, path]) => ({
    route,
    address: `/d/${deploymentId}${path.replaceAll(/:(\w+)/g, (_, key) => String(ids[key] ?? 1))}`,
  }));
  for (const { route, address } of going) {
    await page.goto(address);
    await settled(page);
    if (shows.includes(route)) {
      if (!(await page.evaluate(showsText))) hidden.push(route);
    }
    expect([route, await isHacked(), strange]).toEqual([route, undefined, []]);
    for (const [colorScheme, rules] of [
      ['light', WCAG],
      ['dark', COLORS],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      for (const violation of await violations(page, rules)) barriers.push([route, colorScheme, violation]);
    }
  }
  await page.goto(`/d/${deploymentId}/workbooks/${ids.workbookId}`);
  await page.getByRole('button', { name: 'Share…' }).click();
  await page.getByRole('dialog').getByRole('searchbox').fill('script');
  await page.getByRole('dialog').getByRole('button', { name: START }).first().waitFor();
  for (const violation of await violations(page)) barriers.push(['sharing', violation]);
  expect(await isHacked()).toBeUndefined();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('script');
  await page.getByRole('listbox', { name: 'Results' }).getByRole('option').first().waitFor();
  expect(await isHacked()).toBeUndefined();

  // Narrow, and from right to left.
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`/d/${deploymentId}`);
  await settled(page);
  for (const dir of ['ltr', 'rtl']) {
    await page.evaluate(`document.documentElement.dir = '${dir}'`);
    for (const violation of await violations(page)) barriers.push(['360 px', dir, violation]);
    const beyond = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    if (beyond !== 0) barriers.push(['360 px', dir, beyond]);
  }
  expect({ strange, hidden, barriers }).toEqual({ strange: [], hidden: [], barriers: [] });
  await context.close();
});

test('texts of a model, of its rows and of a question that try to run as script are shown as texts in explore and in the studio', async () => {
  const { id } = await world.deployment();
  await world.admin.updateDeployment({ deploymentId: id, body: { name: NAME } });
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const rows = HOSTILE.map((text, i) => `${i + 1},${quoted(text)}`);
  await world.writeFiles(id, { 'texts.csv': `id,name\n${rows.join('\n')}\n` });
  // Models have no templates, and refuse what looks like one.
  const description = HOSTILE.filter((text) => !text.includes('{{')).join(' ');
  const shown = { title: NAME, description };
  const cube = {
    name: 'texts',
    sql_table: 'files.texts',
    ...shown,
    dimensions: [
      { name: 'id', sql: 'id', type: 'number', primary_key: true },
      { name: 'name', sql: 'name', type: 'string', ...shown },
    ],
    measures: [{ name: 'count', type: 'count', ...shown }],
    segments: [{ name: 'first', sql: '{CUBE}.id = 1', ...shown }],
  };
  const view = {
    name: 'named',
    ...shown,
    cubes: [{ join_path: 'texts', includes: '*' }],
    folders: [{ name: NAME, includes: ['name'] }],
  };
  await deployModel(world, id, {
    'model/cubes/texts.yml': JSON.stringify({ cubes: [cube] }),
    'model/views/named.yml': JSON.stringify({ views: [view] }),
  });
  const { page, context } = await open(await createSignable(world, { roles: ['Admin'] }));
  const strange: string[] = [];
  page.on('request', (request) => request.url().includes('evil.invalid') && strange.push(request.url()));
  page.on('dialog', (dialog) => void dialog.dismiss().then(() => strange.push(dialog.message())));
  page.on('pageerror', (error) => strange.push(String(error)));
  const nothingRan = async (where: string) =>
    expect([where, await page.evaluate('window.hacked'), strange]).toEqual([where, undefined, []]);
  const all = page.getByText(START, { exact: false });

  await page.goto(`/d/${id}/explore`);
  await all.first().waitFor();
  await nothingRan('views to begin with');
  const query = {
    measures: ['named.count'],
    dimensions: ['named.name'],
    filters: [{ member: 'named.name', operator: 'notEquals', values: ['x', START.slice(1)] }],
  };
  await page.goto(`/d/${id}/explore?q=${encodeURIComponent(JSON.stringify(query))}`);
  await page.getByRole('tab', { name: 'Table' }).click();
  await page.getByRole('region', { name: 'Results' }).getByText(START).first().waitFor();
  await nothingRan('rows in a table');
  await page.getByRole('tab', { name: 'Chart' }).click();
  for (const type of await page.getByRole('radiogroup').first().getByRole('radio').all()) {
    if (await type.isDisabled()) continue;
    await type.click();
    await expect.poll(() => page.locator('.results-panel').getAttribute('aria-busy')).toBe('false');
  }
  await nothingRan('charts of each type');
  await page.getByRole('searchbox', { name: 'Search fields' }).fill('script');
  await page.locator('.member mark').first().waitFor();
  await nothingRan('fields that are searched');
  await page.getByRole('tab', { name: 'SQL' }).click();
  await page.getByRole('tabpanel').getByText('named').first().waitFor();
  await nothingRan('SQL');
  for (const route of ['adminModels', 'adminPolicies', 'adminSources', 'adminDeployment'] as const) {
    await page.goto(`/d/${id}${ROUTES[route]}`);
    await settled(page);
    await nothingRan(route);
  }
  await context.close();
  await world.admin.deleteDeployment({ deploymentId: id });
});

test('a new deployment begins with its first steps, and a deleted one leads to what is left', async () => {
  const { page, context } = await open(await createSignable(world, { roles: ['Admin'] }));
  await page.goto(`/d/${deploymentId}${ROUTES.adminDeployments}`);
  const button = page.getByRole('button', { name: 'New deployment' });
  await button.click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.locator('button:focus', { hasText: 'New deployment' }).waitFor();
  await button.click();
  await page.keyboard.type('Our own');
  await page.keyboard.press('Enter');
  await page.waitForURL(
    (url) => /^\/d\/\d+$/.test(url.pathname) && !url.pathname.endsWith(`/${deploymentId}`),
  );
  // The model that a deployment begins with does not count as a step.
  await page.getByRole('heading', { name: 'First steps: 1 of 6 done' }).waitFor();
  await page.goto(`${page.url()}${ROUTES.adminDeployments}`);
  await page
    .getByRole('row', { name: /Our own/ })
    .getByRole('button', { name: 'Delete' })
    .click();
  await page.keyboard.type('Our own');
  await page.keyboard.press('Enter');
  await page.waitForURL(`/d/${deploymentId}`);
  await page.getByRole('link', { name: 'Commerce overview' }).first().waitFor();
  await context.close();
});

test('one click removes the demo, and one click adds it again', async () => {
  const { page, context } = await open(await createSignable(world, { roles: ['Admin'] }));
  await page.getByRole('link', { name: 'Commerce overview' }).locator('.picture-of').waitFor();
  await page.getByRole('button', { name: 'Remove the demo' }).click();
  const dialog = page.getByRole('dialog');
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Remove the demo' }).click();
  await page.getByText('There is nothing here for you yet').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Add the demo' }).click();
  await page.waitForURL(/\/d\/[2-9]\d*$/);
  await page.getByRole('link', { name: 'Commerce overview' }).locator('.picture-of').waitFor();
  await context.close();
});
