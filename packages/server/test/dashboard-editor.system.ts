/** Authors in the app, in a real browser: they build a dashboard, publish it, and edit one draft together. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createOrielClient } from '@oriel/client';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from './browser.ts';
import { startFront } from './front-of-postgres.ts';
import { whenBuilt } from './shops.ts';
import { createSignable, PASSWORD } from './sign-in.ts';
import { ADMIN_KEY, createOwnWorld, type World } from './world.ts';

const deploymentId = 1;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

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

const BARS = {
  mark: 'bar',
  encoding: {
    x: { field: 'operations__status', type: 'nominal' },
    y: { field: 'operations__orders', type: 'quantitative' },
  },
};

/** A workbook with a chart and a figure, of which nothing is on a dashboard yet. */
async function createWorkbook(name: string) {
  const { id: workbookId } = await world.admin.createWorkbook({ deploymentId, body: { name } });
  const add = (title: string, jsonQuery: object, chart: object) =>
    world.admin.createReport({
      deploymentId,
      body: { workbookId, name: title, title, jsonQuery: JSON.stringify(jsonQuery), meta: { chart } },
    });
  const query = { measures: ['operations.orders'], dimensions: ['operations.status'] };
  await add('Orders by status', query, { kind: 'vega', spec: BARS });
  await add(
    'Orders',
    { measures: ['operations.orders'] },
    { kind: 'kpi', spec: { measure: 'operations.orders' } },
  );
  return workbookId;
}

async function openEditor(
  workbookId: number,
  options: { width?: number; height?: number; baseURL?: string } = {},
) {
  const person = await createSignable(world, { roles: ['Admin'] });
  const { width = 1440, height = 900, baseURL = world.url } = options;
  const context = await browser.newContext({
    baseURL,
    locale: 'en-US',
    viewport: { width, height },
  });
  const page = await context.newPage();
  const errors: string[] = [];
  // Browsers say of every reply that it is an error, also of those that the editor knows what to do with.
  page.on(
    'console',
    (message) => message.type() === 'error' && !/ 412 /.test(message.text()) && errors.push(message.text()),
  );
  page.on('pageerror', (error) => errors.push(String(error)));
  await signIn(page, person);
  await page.goto(`/d/${deploymentId}/workbooks/${workbookId}/dashboard`);
  await page.getByRole('button', { name: 'Publish' }).waitFor();
  return { page, context, errors, person, name: person.username };
}

async function signIn(page: Page, { email }: { email: string }) {
  await page.goto('/sign-in');
  await page.fill('#username', email);
  await page.fill('#password', PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL((url) => url.pathname !== '/sign-in');
}

const slot = (page: Page, title: string) => page.getByRole('group', { name: new RegExp(`^${title}, `) });
const saved = (page: Page) => page.getByText('Saved', { exact: true }).waitFor();

async function drag(page: Page, handle: Locator, by: { x: number; y: number }) {
  const box = (await handle.boundingBox())!;
  const from = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + by.x / 2, from.y + by.y / 2, { steps: 4 });
  await page.mouse.move(from.x + by.x, from.y + by.y, { steps: 4 });
  await page.mouse.up();
}

async function expectAccessible(page: Page) {
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate('axe.run(document)')) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])).toEqual([]);
}

/** The figure shows what the mark shows that was clicked on, until the viewer clears it. */
async function crossFilter(page: Page) {
  const figure = page.locator('.figure');
  const all = await figure.innerText();
  const keys = page.getByRole('slider', { name: 'Values of Orders by status' });
  await keys.focus();
  await page.keyboard.press('ArrowRight');
  const [, status, orders] = /Status: (.+), Orders: (.+)/.exec((await keys.getAttribute('aria-valuetext'))!)!;
  await page.keyboard.press('Enter');
  await expect.poll(() => figure.innerText()).toBe(orders);
  expect(orders).not.toBe(all);
  await page.getByRole('img', { name: `Filtered by ${status}` }).waitFor();
  await expectAccessible(page);
  await shoot(page, 'cross-filter');
  await page.getByRole('button', { name: `Clear the filter ${status}` }).click();
  await expect.poll(() => figure.innerText()).toBe(all);
}

/** Pictures to look at, if somebody wants some. */
async function shoot(page: Page, name: string) {
  const folder = process.env.ORIEL_EDITOR_SHOTS;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` });
}

test('an author builds a dashboard by mouse and keyboard, publishes it, and a viewer sees the same', async () => {
  const workbookId = await createWorkbook('Shop');
  const { page, context, errors } = await openEditor(workbookId);
  await shoot(page, 'empty');
  await expectAccessible(page);

  // From the empty page, then from the menu. What is added is drawn with its rows.
  await page.getByRole('button', { name: 'Orders by status' }).click();
  await slot(page, 'Orders by status').locator('.vega svg').waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Chart: Orders', exact: true }).click();
  await slot(page, 'Orders').locator('.figure').waitFor({ state: 'attached' });
  await saved(page);

  // By mouse: the chart beside the figure. By keys: wider, and one column to the left.
  const wide = slot(page, 'Orders by status');
  const box = (await wide.boundingBox())!;
  await drag(page, wide, { x: box.width, y: 0 });
  await expect.poll(() => wide.getAttribute('aria-label')).toContain('column 7, row 1');
  await drag(page, wide.locator('.slot-corner'), { x: 0, y: 80 });
  await expect.poll(() => wide.getAttribute('aria-label')).toContain('6 wide, 6 high');
  await wide.focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => wide.getAttribute('aria-label')).toContain('column 6, row 1');
  await page.keyboard.press('Shift+ArrowRight');
  await expect.poll(() => wide.getAttribute('aria-label')).toContain('column 6, row 1, 7 wide');
  await expect
    .poll(() => page.locator('[aria-live=assertive]').innerText())
    .toBe('Orders by status: 7 wide, 6 high');
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  await expect.poll(() => wide.getAttribute('aria-label')).toContain('column 7, row 1, 6 wide');
  await page.keyboard.press('Control+y');
  await expect.poll(() => wide.getAttribute('aria-label')).toContain('column 6, row 1, 6 wide');

  // A filter, set up in the panel without a mouse on the grid, and a text.
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Filter' }).click();
  await page.getByLabel('Field', { exact: true }).selectOption('operations.status');
  // Viewers see the title, and not the model.
  await expect.poll(() => page.getByLabel('Title', { exact: true }).inputValue()).toBe('Status');
  await page.getByLabel('Title', { exact: true }).fill('State');
  const reaches = page.getByRole('group', { name: 'Reaches' }).getByLabel('Orders', { exact: true });
  await expect.poll(() => reaches.locator('option:checked').innerText()).toBe('reached');
  // What it begins with is picked from the values that there are.
  const first = page.getByRole('group', { name: 'At first' });
  await first.getByLabel('shipped').check();
  await first.getByLabel('shipped').uncheck();
  // Both charts are selected by keys, and changed in one step.
  await wide.focus();
  await page.keyboard.press('Control+a');
  await page.getByRole('heading', { name: '3 widgets selected' }).waitFor();
  await slot(page, 'State').click({ modifiers: ['Control'] });
  await page.getByRole('heading', { name: '2 widgets selected' }).waitFor();
  await slot(page, 'State').click({ modifiers: ['Control'] });
  await page.getByRole('button', { name: 'Same height' }).click();
  const heights = () =>
    page
      .locator('.canvas > .slot')
      .evaluateAll((slots) =>
        slots.map((one) => /(\d+) high/.exec((one as never as { ariaLabel: string }).ariaLabel)![1]),
      );
  await expect.poll(async () => new Set(await heights()).size).toBe(1);
  await page.keyboard.press('Control+z');
  await expect.poll(async () => new Set(await heights()).size).toBeGreaterThan(1);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Text' }).click();
  await page.getByLabel('Text, in Markdown').fill('## How we are doing');
  await slot(page, 'How we are doing').getByText('How we are doing').first().waitFor();
  await saved(page);
  await shoot(page, 'editor');
  await expectAccessible(page);

  // A click on a mark may filter the other charts: the author sees how before anybody else does.
  await wide.click({ position: { x: 60, y: 10 } });
  await page.getByLabel('A click filters the other charts').check();
  await saved(page);
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await crossFilter(page);
  await page.getByRole('button', { name: 'Preview', exact: true }).click();

  // A reload brings everything back.
  await page.reload();
  await slot(page, 'State').waitFor();
  const draft = (await world.admin.getWorkbook({ deploymentId, workbookId })).dashboardDraft!;
  expect(draft.widgets).toHaveLength(4);

  await page.getByRole('button', { name: 'Publish' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('published for the first time').waitFor();
  await dialog.getByLabel(/What is new/).fill('The beginning');
  await expectAccessible(page);
  await shoot(page, 'publish');
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByText('Viewers see version 1').waitFor();

  // What viewers get: the same widgets at the same places of the grid.
  const workbook = await world.admin.getWorkbook({ deploymentId, workbookId });
  const { publicId } = workbook.publishedDashboard!;
  await world.admin.updateEmbedAccess({
    deploymentId,
    workbookId,
    body: { allowEmbed: true, allEmbedUsers: true, action: 'read' },
  });
  const body = { deploymentId, externalId: 'ann', userAttributes: [{ name: 'region', value: 'EU' }] };
  const { sessionId } = await world.admin.generateSession({ body });
  const viewer = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await viewer.goto(`${world.url}/embed/dashboard/${publicId}?session=${sessionId}`);
  await viewer.locator('.vega svg').waitFor();
  const areas = (list: Locator) =>
    list.evaluateAll((cells) =>
      cells.map((cell) => {
        const { gridColumn, gridRow } = (cell as unknown as { style: Record<string, string> }).style;
        return `${gridColumn}, ${gridRow}`;
      }),
    );
  expect(await areas(viewer.locator('.grid > .cell'))).toEqual(await areas(page.locator('.canvas > .slot')));
  await shoot(viewer, 'viewer');
  await crossFilter(viewer);
  await viewer.close();

  // The next version says what it changes; the first can be restored, and the dashboard taken back.
  await slot(page, 'Orders').first().focus();
  await page.keyboard.press('Delete');
  await saved(page);
  await page.getByRole('button', { name: 'Publish' }).click();
  await dialog.getByText('Orders is removed').waitFor();
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByText('Viewers see version 2').waitFor();
  await page.getByRole('button', { name: 'Versions' }).click();
  await dialog.getByText('The beginning').waitFor();
  await dialog.getByRole('button', { name: 'Compare' }).last().click();
  await dialog.getByText('Orders is removed').waitFor();
  await expectAccessible(page);
  await shoot(page, 'versions');
  await dialog.getByRole('button', { name: 'Show' }).last().click();
  await page.getByText('You see version 1, as it was published').waitFor();
  expect(await page.getByRole('button', { name: 'Publish', exact: true }).count()).toBe(0);
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: 'Versions' }).waitFor();
  expect(await page.getByRole('option', { name: 'Publish' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.locator('.board .grid > .cell').count()).toBe(4);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Back to the draft' }).click();
  await expect.poll(() => page.locator('.canvas > .slot').count()).toBe(3);
  await page.getByRole('button', { name: 'Versions' }).click();
  await dialog.getByRole('button', { name: 'Restore' }).last().click();
  await expect.poll(() => page.locator('.canvas > .slot').count()).toBe(4);
  await saved(page);
  // The draft before it is not lost, also after the page was left.
  await page.reload();
  await slot(page, 'State').waitFor();
  await page.getByRole('button', { name: 'Versions' }).click();
  await dialog.getByRole('button', { name: 'Bring it back' }).click();
  await expect.poll(() => page.locator('.canvas > .slot').count()).toBe(3);
  await page.keyboard.press('Control+z');
  await expect.poll(() => page.locator('.canvas > .slot').count()).toBe(4);
  await saved(page);
  await page.getByRole('button', { name: 'Publish' }).click();
  await dialog.getByRole('button', { name: 'Unpublish' }).click();
  await page.getByText('Nobody sees the dashboard').waitFor();
  await expect(world.admin.getDashboard({ publicId })).rejects.toMatchObject({ status: 404 });

  // On a phone, widgets stand below each other, and the menu of each moves it.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'dark' });
  // The chart's own menu has the same name, and cannot be used here.
  const menu = wide.locator('.slot-tools').getByRole('button', { name: 'Options for Orders by status' });
  await wide.focus();
  await menu.click();
  await page.getByRole('menuitem', { name: 'Move down' }).click();
  await expect.poll(() => wide.getAttribute('aria-label')).not.toContain('row 1,');
  const tops = await page
    .locator('.tools button:visible')
    .evaluateAll((tools) =>
      tools.map(
        (tool) => (tool as never as { getBoundingClientRect(): { top: number } }).getBoundingClientRect().top,
      ),
    );
  expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(20);
  await expectAccessible(page);
  await shoot(page, 'phone');
  expect(errors).toEqual([]);
  await context.close();
});

test('an admin sees a draft with the rows of a viewer, and is told whose they are', async () => {
  const workbookId = await createWorkbook('As others see it');
  const { client } = await world.embedded({
    ...{ deploymentId, externalId: 'ann', embedTenantName: 'acme-corp' },
    userAttributes: [{ name: 'region', value: 'EU' }],
  });
  const { page, context, errors } = await openEditor(workbookId);
  await page.getByRole('button', { name: 'Orders', exact: true }).click();
  await saved(page);
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  const figure = page.locator('.figure');
  const all = await figure.innerText();
  await page.getByRole('button', { name: 'Preview as…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('As', { exact: true }).selectOption('A viewer in your product');
  await dialog.getByLabel('Embed tenant').selectOption('acme-corp');
  await dialog.getByLabel('External id').fill('ann');
  await dialog.getByLabel('Region', { exact: true }).fill('EU');
  await expectAccessible(page);
  await shoot(page, 'preview-as-dialog');
  await dialog.getByRole('button', { name: 'Preview', exact: true }).click();
  await page.getByText('You see what ann (acme-corp) sees').waitFor();
  await page.getByText('They do not see the published dashboard.').waitFor();
  await expect.poll(() => figure.innerText()).not.toBe(all);
  const query = { measures: ['operations.orders'] };
  const { data } = (await client.load({ deploymentId, body: { query } })) as { data: object[] };
  expect(Number((await figure.innerText()).replace(',', ''))).toBe(Number(Object.values(data[0]!)[0]));
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await shoot(page, 'preview-as-phone');
  await page.getByRole('button', { name: 'Show my own rows' }).click();
  await expect.poll(() => figure.innerText()).toBe(all);

  // What is copied here can be pasted into another workbook.
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await slot(page, 'Orders').focus();
  await page.keyboard.press('Control+c');
  await page.getByText('Copied').waitFor();
  await page.goto(`/d/${deploymentId}/workbooks/${await createWorkbook('Another')}/dashboard`);
  await page.getByRole('button', { name: 'Publish' }).waitFor();
  await page.keyboard.press('Control+v');
  await slot(page, 'Orders').locator('.figure').waitFor({ state: 'attached' });
  await saved(page);
  expect(errors).toEqual([]);
  await context.close();
});

test('two authors change one draft, and nothing of either is lost', async () => {
  const workbookId = await createWorkbook('Together');
  const position = { x: 0, y: 0, w: 6, h: 2 };
  const text = (id: string, y: number) => ({
    id,
    type: 'TEXT' as const,
    position: { ...position, y },
    config: { markdown: `First ${id}` },
  });
  const dashboardDraft = { widgets: [text('a', 0), text('b', 2)] };
  await world.admin.updateWorkbookDashboard({ deploymentId, workbookId, body: { dashboardDraft } });
  const [ada, bob] = [await openEditor(workbookId), await openEditor(workbookId)];
  const write = async (page: Page, title: string, markdown: string) => {
    await slot(page, title).click();
    await page.getByLabel('Text, in Markdown').fill(markdown);
  };
  // Each sees that they are two, and what the other one has open.
  await ada.page.locator('.other').waitFor();
  await slot(bob.page, 'First a').click();
  await slot(ada.page, 'First a').getByText('has this open').waitFor();
  await expectAccessible(ada.page);
  await shoot(ada.page, 'presence');
  // Different widgets: both changes are kept, and the author who saves second is told.
  await slot(ada.page, 'First a').click();
  await slot(bob.page, 'First a').getByText(`${ada.name} has this open`).waitFor();
  await write(ada.page, 'First a', 'Of Ada');
  await saved(ada.page);
  await write(bob.page, 'First b', 'Of Bob');
  await bob.page.getByText(`${ada.name} changed this draft`).waitFor();
  await saved(bob.page);
  await slot(bob.page, 'Of Ada').waitFor();
  const stored = async () =>
    (await world.admin.getWorkbook({ deploymentId, workbookId })).dashboardDraft!.widgets!.map(
      ({ config }) => (config as { markdown: string }).markdown,
    );
  await expect.poll(stored).toEqual(['Of Ada', 'Of Bob']);

  // The same field: a person decides, and what they did not choose is one undo away.
  await write(ada.page, 'First b', 'Ada was here');
  const conflict = ada.page.getByRole('dialog');
  await conflict.getByText('Somebody else changed the same').waitFor();
  await expectAccessible(ada.page);
  await shoot(ada.page, 'conflict');
  expect(await stored()).toEqual(['Of Ada', 'Of Bob']);
  await conflict.getByLabel(/^Mine/).check();
  await conflict.getByRole('button', { name: 'Keep what is chosen' }).click();
  await saved(ada.page);
  await expect.poll(stored).toEqual(['Of Ada', 'Ada was here']);
  await ada.page.getByRole('button', { name: 'Undo: Keep mine' }).click();
  await expect.poll(stored).toEqual(['Of Ada', 'Of Bob']);

  // A second tab of the same person is told of, and follows.
  const second = await ada.context.newPage();
  await second.goto(ada.page.url());
  await second.getByText('You have this draft open in another tab').waitFor();
  await ada.page.getByText('You have this draft open in another tab').waitFor();
  await write(ada.page, 'Of Ada', 'Of Ada again');
  await slot(second, 'Of Ada again').waitFor();
  await write(ada.page, 'Of Ada again', 'Of Ada');
  await slot(second, 'Of Ada').waitFor();
  await second.close();

  // Without a connection nothing is lost either.
  await bob.page.reload();
  await slot(bob.page, 'Of Bob').waitFor();
  await bob.context.setOffline(true);
  await write(bob.page, 'Of Bob', 'Written on a train');
  await bob.page.getByText(/^Offline/).waitFor();
  await bob.context.setOffline(false);
  await expect.poll(stored).toEqual(['Of Ada', 'Written on a train']);
  // Nor with a page that is left before it could save.
  await bob.page.route('**/dashboard', (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.continue(),
  );
  await write(bob.page, 'Written on a train', 'The lid was closed');
  await bob.page.getByText(/^Offline/).waitFor();
  await bob.page.unroute('**/dashboard');
  await bob.page.reload();
  await bob.page.getByText('Changes that were not saved when you left are back').waitFor();
  await expect.poll(stored).toEqual(['Of Ada', 'The lid was closed']);
  // The page forgets them when it has the answer, which is after the draft is stored.
  await expect
    .poll(() =>
      bob.page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('oriel-unsaved'))"),
    )
    .toEqual([]);
  await Promise.all([ada.context.close(), bob.context.close()]);
});

test('an editor saves nothing in the name of whoever signed in in another tab, and keeps what was not saved for its author', async () => {
  const workbookId = await createWorkbook('Shared desk');
  const position = { x: 0, y: 0, w: 6, h: 2 };
  const dashboardDraft = {
    widgets: [{ id: 'a', type: 'TEXT' as const, position, config: { markdown: 'Before' } }],
  };
  await world.admin.updateWorkbookDashboard({ deploymentId, workbookId, body: { dashboardDraft } });
  const ada = await openEditor(workbookId);
  const bob = await createSignable(world, { roles: ['Admin'] });
  const address = ada.page.url();
  const stored = async () =>
    (await world.admin.getWorkbook({ deploymentId, workbookId })).dashboardDraft!.widgets!.map(
      ({ config }) => (config as { markdown: string }).markdown,
    );
  const write = async (page: Page, title: string, markdown: string) => {
    await slot(page, title).click();
    await page.getByLabel('Text, in Markdown').fill(markdown);
  };
  const keptIn = (page: Page) =>
    page.evaluate<string[]>("Object.keys(localStorage).filter((key) => key.startsWith('oriel-unsaved'))");

  const takeOver = async (person: { email: string }) => {
    const own = await browser.newContext({ baseURL: world.url });
    await signIn(await own.newPage(), person);
    await ada.context.addCookies(await own.cookies());
    await own.close();
  };
  const other = await ada.context.newPage();
  // SQL that is too long for an address is kept by the tab, which another person may use later.
  const asking = await ada.context.newPage();
  await asking.goto(`/d/${deploymentId}/explore?sql=select`);
  const editor = asking.getByRole('textbox', { name: 'SQL over the views of the model' });
  await editor.click();
  await asking.keyboard.press('ControlOrMeta+a');
  await asking.keyboard.insertText(`select 'Of Ada' -- ${'long '.repeat(4000)}`);
  await asking.waitForURL(/sql=kept/);
  await asking.reload();
  await editor.getByText("'Of Ada'").waitFor();
  await takeOver(bob);
  await asking.reload();
  await asking.getByRole('button', { name: /account/i }).waitFor();
  await asking.waitForLoadState('networkidle');
  expect(await asking.getByText("'Of Ada'").count()).toBe(0);
  await asking.close();
  await write(ada.page, 'Before', 'Of Ada');
  await ada.page.getByRole('heading', { name: 'Somebody else is signed in now' }).waitFor();
  await expectAccessible(ada.page);
  expect(await ada.page.title()).toBe('Somebody else is signed in now · Oriel');
  expect(await ada.page.evaluate('document.activeElement.tagName')).toBe('H1');
  expect(await ada.page.getByText('Before').count()).toBe(0);
  expect(await stored()).toEqual(['Before']);
  expect(await keptIn(ada.page)).toEqual([`oriel-unsaved:${ada.person.id}/${deploymentId}/${workbookId}`]);

  // A tab of the other person goes on, without the drafts of the first person.
  await other.goto(address);
  await slot(other, 'Before').waitFor();
  const beside = await ada.context.newPage();
  await beside.goto('/');
  await beside.getByRole('button', { name: /account/i }).waitFor();
  // A tab that was in the background, too, says so when it is seen again, and a window beside it when it is used.
  await takeOver(ada.person);
  await other.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await beside.evaluate("dispatchEvent(new Event('focus'))");
  for (const tab of [other, beside])
    await tab.getByRole('heading', { name: 'Somebody else is signed in now' }).waitFor();

  await ada.page.goto(address);
  await ada.page.getByText('Changes that were not saved when you left are back').waitFor();
  await expect.poll(stored).toEqual(['Of Ada']);

  // A person who signs out decides about unsaved drafts, which would stay readable in this browser.
  await ada.page.route('**/dashboard', (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.continue(),
  );
  await write(ada.page, 'Of Ada', 'Secret');
  await ada.page.getByText(/^Offline/).waitFor();
  const signOut = async () => {
    await ada.page.getByRole('button', { name: /account/i }).click();
    await ada.page.getByRole('menuitem', { name: 'Sign out' }).click();
  };
  await signOut();
  await ada.page.getByRole('button', { name: 'Keep them and sign out' }).waitFor();
  await expectAccessible(ada.page);
  await ada.page.getByRole('button', { name: 'Delete them and sign out' }).click();
  await ada.page.waitForURL(/notice=signed-out/);
  expect(await keptIn(ada.page)).toEqual([]);

  // A save that is under way is awaited, and the person is not asked.
  await ada.page.unrouteAll();
  await signIn(ada.page, ada.person);
  await ada.page.goto(address);
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await ada.page.route('**/dashboard', async (route) => {
    if (route.request().method() === 'PUT') await asked;
    await route.continue();
  });
  await write(ada.page, 'Of Ada', 'At the end');
  await signOut();
  answer();
  await ada.page.waitForURL(/notice=signed-out/);
  expect(await stored()).toEqual(['At the end']);
  expect(await keptIn(ada.page)).toEqual([]);
  await ada.context.close();
});

/** The share of the pixels of two pictures that differ visibly. */
async function differing(page: Page, pictures: readonly [Buffer, Buffer]): Promise<number> {
  const [a, b] = pictures.map((bytes) => `data:image/png;base64,${bytes.toString('base64')}`);
  return page.evaluate(`(async () => {
    const read = async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height);
    };
    const [one, other] = [await read(${JSON.stringify(a)}), await read(${JSON.stringify(b)})];
    if (Math.abs(one.width - other.width) > 1 || Math.abs(one.height - other.height) > 1) return 1;
    const [width, height] = [Math.min(one.width, other.width), Math.min(one.height, other.height)];
    // The pages begin at parts of pixels, so one picture may be shifted by one.
    const shiftedBy = (dx, dy) => {
      let count = 0;
      for (let y = 1; y < height - 1; y++)
        for (let x = 1; x < width - 1; x++) {
          const [i, j] = [(y * one.width + x) * 4, ((y + dy) * other.width + x + dx) * 4];
          const far = [0, 1, 2].some((k) => Math.abs(one.data[i + k] - other.data[j + k]) > 48);
          if (far) count++;
        }
      return count / (width * height);
    };
    return Math.min(...[-1, 0, 1].flatMap((dx) => [-1, 0, 1].map((dy) => shiftedBy(dx, dy))));
  })()`);
}

test("a viewer's link shows exactly what the author saw", async () => {
  const workbookId = await createWorkbook('The same for everybody');
  const { items } = await world.admin.getReports({ deploymentId, workbookId });
  const [kpi, bars] = ['Orders', 'Orders by status'].map(
    (name) => items.find((one) => one.name === name)!.id,
  );
  const table = await world.admin.createReport({
    deploymentId,
    body: {
      workbookId,
      name: 'As a table',
      jsonQuery: JSON.stringify({ measures: ['operations.orders'], dimensions: ['operations.status'] }),
      meta: { chart: { kind: 'table', spec: {} } },
    },
  });
  const at = (x: number, y: number, w: number, h: number) => ({ x, y, w, h });
  const widgets = [
    {
      ...{ id: 'state', type: 'FILTER' as const, position: at(0, 0, 3, 1) },
      config: {
        ...{ member: 'operations.status', title: 'State', faceted: true },
        default: { operator: 'equals', value: ['shipped'] },
      },
    },
    {
      ...{ id: 'nobody', type: 'FILTER' as const, position: at(3, 0, 3, 1) },
      config: { member: 'operations.status', visibility: 'hidden' },
    },
    { id: 'bars', type: 'CHART' as const, position: at(0, 1, 6, 5), config: { reportId: bars } },
    { id: 'kpi', type: 'CHART' as const, position: at(6, 1, 3, 2), config: { reportId: kpi } },
    { id: 'text', type: 'TEXT' as const, position: at(9, 1, 3, 2), config: { markdown: '## How we are' } },
    {
      id: 'box',
      type: 'CONTAINER' as const,
      position: at(6, 3, 6, 5),
      config: { title: 'More', widgets: ['table'] },
    },
    { id: 'table', type: 'CHART' as const, position: at(0, 0, 12, 4), config: { reportId: table.id } },
  ];
  const dashboardDraft = { title: 'Same', widgets };
  await world.admin.updateWorkbookDashboard({ deploymentId, workbookId, body: { dashboardDraft } });
  const { page, context, errors } = await openEditor(workbookId);
  await expect.poll(() => page.locator('.slot-mark').count()).toBe(1);
  const { publicId } = await world.admin.publishDashboard({ deploymentId, workbookId, body: {} });
  await page.reload();
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  const viewer = await context.newPage();
  await viewer.goto(`/embed/d/${deploymentId}/dashboard/${publicId}`);
  const widthOf = async (on: Page) => (await on.locator('.grid').first().boundingBox())!.width;
  const cells = (on: Page) => on.locator('.grid').first().locator(':scope > .cell');
  for (const on of [page, viewer]) {
    await on.locator('.vega svg').waitFor();
    await on.locator('.figure').waitFor();
    await on.locator('.cell.container table').waitFor();
  }
  const wanted = Math.round(1440 + (await widthOf(page)) - (await widthOf(viewer)));
  await viewer.setViewportSize({ width: wanted, height: 900 });
  await expect.poll(() => widthOf(viewer)).toBe(await widthOf(page));
  // The control that nobody sees is on neither page.
  expect([await cells(page).count(), await cells(viewer).count()]).toEqual([5, 5]);
  const blank = await context.newPage();
  // The letters of a figure are as large as the window is wide, so of the figure the text is compared.
  const texts = await Promise.all([page, viewer].map((on) => on.locator('.figure').innerText()));
  expect(texts[0]).toBe(texts[1]);
  for (const i of [0, 1, 3, 4]) {
    const looks = async () => {
      const pictures = [
        await cells(page).nth(i).screenshot(),
        await cells(viewer).nth(i).screenshot(),
      ] as const;
      return differing(blank, pictures);
    };
    await expect.poll(looks).toBeLessThan(0.01);
  }
  await shoot(page, 'same-author');
  await shoot(viewer, 'same-viewer');
  await page.getByRole('button', { name: 'Phone', exact: true }).click();
  await expect.poll(() => page.locator('.grid.stacked').count()).toBeGreaterThan(0);
  await expectAccessible(page);
  await shoot(page, 'device-phone');
  expect(errors).toEqual([]);
  await context.close();
});

test('an author finds an application after a thousand other workbooks, moves its card, and is told what is none, or not any more', async () => {
  const workbookId = await createWorkbook('With an application');
  await world.server.db.pool.query(
    `insert into workbooks (deployment_id, name, name_key, user_id)
     select deployment_id, 'A workbook ' || i, 'a workbook ' || i, user_id
     from workbooks, generate_series(1, 1050) i where id = $1`,
    [workbookId],
  );
  const publish = async (name: string) => {
    const { id } = await world.admin.createWorkbook({ deploymentId, body: { name } });
    const config = { kind: 'APP' as const, app: { html: '<p id="here">here</p>' } };
    await world.admin.publishDashboard({ deploymentId, workbookId: id, body: { config } });
    return id;
  };
  const zones = await publish('Zones');
  const gone = await publish('Zones of before');
  const at = (y: number) => ({ x: 0, y, w: 6, h: 2 });
  const widgets = [
    { id: 'app', type: 'APP' as const, position: at(0), config: { title: 'Our zones' } },
    { id: 'text', type: 'TEXT' as const, position: at(2), config: { markdown: 'Below it' } },
  ];
  await world.admin.updateWorkbookDashboard({
    ...{ deploymentId, workbookId },
    body: { dashboardDraft: { widgets } },
  });
  const { page, context, errors } = await openEditor(workbookId);
  const card = slot(page, 'Our zones');
  await card.click();
  const found = page.locator('.found');
  await found.getByRole('button', { name: 'Search further' }).click();
  await found.getByRole('button', { name: 'Zones of before', exact: true }).waitFor();
  await world.admin.unpublishDashboard({ deploymentId, workbookId: gone });
  await found.getByRole('button', { name: 'Zones of before', exact: true }).click();
  await page.getByText('Zones of before is not a published application.').waitFor();
  await found.getByRole('button', { name: 'Zones', exact: true }).click();
  const here = page.frameLocator('iframe.application').locator('#here');
  await here.waitFor();
  // As in browsers that cannot move a frame without loading it again.
  await page.evaluate('delete Element.prototype.moveBefore');
  await drag(page, card, { x: 0, y: 400 });
  await expect.poll(() => card.getAttribute('aria-label')).toContain('row 3');
  await here.waitFor();
  await saved(page);
  expect(errors).toEqual([]);

  // Its card says that the application is gone, and so does the publication, before it is refused.
  await world.admin.unpublishDashboard({ deploymentId, workbookId: zones });
  await page.reload();
  await card.getByRole('img', { name: 'Its application is not published' }).waitFor();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The application of “Our zones” is not published.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  const config = { kind: 'APP' as const, app: { html: '<p id="here">here</p>' } };
  await world.admin.publishDashboard({ deploymentId, workbookId: zones, body: { config } });
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await dialog.getByRole('heading', { name: 'What changes' }).waitFor();
  expect(await dialog.getByText('is not published').count()).toBe(0);
  await card.getByRole('img', { name: 'Its application is not published' }).waitFor({ state: 'detached' });
  expect(errors.filter((text) => !/ 404 /.test(text))).toEqual([]);
  // If the application cannot be requested, the dialog says nothing of it, and shows the changes all the same.
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  const { publicId } = (await world.admin.getWorkbook({ deploymentId, workbookId: zones }))
    .publishedDashboard!;
  await page.route(`**/${publicId}`, (route) => route.abort());
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await dialog.getByRole('heading', { name: 'What changes' }).waitFor();
  expect(await dialog.getByText('is not published').count()).toBe(0);
  await context.close();
});

test('two authors see each other again after the server was restarted, and lose nothing', async () => {
  const workbookId = await createWorkbook('Across a restart');
  const position = { x: 0, y: 0, w: 6, h: 2 };
  const text = { id: 'a', type: 'TEXT' as const, position, config: { markdown: 'Before it' } };
  const dashboardDraft = { widgets: [text] };
  await world.admin.updateWorkbookDashboard({ deploymentId, workbookId, body: { dashboardDraft } });
  // The address stays the same, because this proxy holds the port while the server restarts.
  const target = { host: '127.0.0.1', port: Number(new URL(world.url).port) };
  const front = await startFront({ refusal: () => undefined, target });
  const baseURL = `http://127.0.0.1:${front.port}`;
  const [ada, bob] = [await openEditor(workbookId, { baseURL }), await openEditor(workbookId, { baseURL })];
  for (const { page } of [ada, bob]) await page.locator('.other').waitFor();
  await slot(bob.page, 'Before it').click();
  await slot(ada.page, 'Before it').getByText(`${bob.name} has this open`).waitFor();

  await world.server.stop();
  for (const { page } of [ada, bob]) await page.locator('.other').waitFor({ state: 'detached' });
  await bob.page.getByLabel('Text, in Markdown').fill('While it was away');
  await bob.page.getByText(/^Offline/).waitFor();
  const another = await world.anotherServer();
  target.port = Number(new URL(another.url).port);

  // What was typed is saved, and who has what open is told to the new server.
  await saved(bob.page);
  await slot(ada.page, 'Before it').getByText(`${bob.name} has this open`).waitFor();
  await slot(ada.page, 'Before it').click();
  await slot(bob.page, 'While it was away').getByText(`${ada.name} has this open`).waitFor();
  const admin = createOrielClient({ baseUrl: another.url, apiKey: ADMIN_KEY });
  const { dashboardDraft: stored } = await admin.getWorkbook({ deploymentId, workbookId });
  expect(stored!.widgets).toMatchObject([{ config: { markdown: 'While it was away' } }]);
  await Promise.all([ada.context.close(), bob.context.close()]);
  front.stop();
});
