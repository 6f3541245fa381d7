/** A modeller in the app, in a real browser: changes a measure, is told what breaks, mends it, merges, and sees it live. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from './browser.ts';
import { deployModel, whenBuilt } from './shops.ts';
import { createSignable, PASSWORD } from './sign-in.ts';
import { createOwnWorld, type World } from './world.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const FILE = 'model/takings.yml';
const MODEL = `cubes:
  - name: takings
    sql: "select 1 as id, 'new' as status, 5 as amount union all select 2, 'done', 7"
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: status, sql: status, type: string }
    measures:
      - { name: revenue, sql: amount, type: sum }
`;

let world: World;
let browser: Browser;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  deploymentId = 1;
  await whenBuilt(world, deploymentId);
  await deployModel(world, deploymentId, { [FILE]: MODEL });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

async function signIn(path: string) {
  const person = await createSignable(world, { roles: ['Admin'] });
  const context = await browser.newContext({
    baseURL: world.url,
    locale: 'en-US',
    viewport: { width: 1280, height: 860 },
  });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto('/sign-in');
  await page.fill('#username', person.email);
  await page.fill('#password', PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL((url) => url.pathname !== '/sign-in');
  await page.goto(path);
  return { page, errors };
}

const line = (page: Page, text: string) => page.locator('.cm-line', { hasText: text }).first();

/** Replaces a line by typing, as a person would. */
async function retype(page: Page, text: string, typed: string) {
  await line(page, text).click();
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+End');
  await page.keyboard.insertText(typed);
}

async function violations(page: Page) {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations: found } = await (
      globalThis as never as { axe: { run(): Promise<{ violations: { id: string }[] }> } }
    ).axe.run();
    return found.map(({ id }) => id);
  });
}

const revenue = () => world.admin.load({ deploymentId, body: { query: { measures: ['takings.revenue'] } } });

test('a modeller changes a measure on a branch, is told which dashboard breaks, mends it, merges, and sees it live', async () => {
  const { id: workbookId } = await world.admin.createWorkbook({
    deploymentId,
    body: { name: 'Takings of the day' },
  });
  const report = await world.admin.createReport({
    deploymentId,
    body: {
      workbookId,
      name: 'Takings',
      jsonQuery: JSON.stringify({ measures: ['takings.revenue'] }),
      meta: { chart: { kind: 'kpi', spec: { measure: 'takings.revenue' } } },
    },
  });
  const config = {
    widgets: [
      {
        id: 'a',
        type: 'CHART' as const,
        position: { x: 0, y: 0, w: 4, h: 4 },
        config: { reportId: report.id },
      },
    ],
  };
  await world.admin.publishDashboard({ deploymentId, workbookId, body: { config } });

  const { page, errors } = await signIn(`/d/${deploymentId}/admin/models`);
  await page.getByRole('button', { name: 'Begin to edit' }).click();
  await page.getByRole('button', { name: 'New file' }).waitFor();
  await page.getByRole('button', { name: 'takings.yml', exact: true }).click();
  await line(page, 'name: takings').waitFor();

  // What the compiler says stands at its place while one types.
  await retype(page, 'name: revenue', '- { name: revenue, sql: amount, type: summ }');
  const problems = page.getByRole('region', { name: 'Problems' });
  await problems.getByText('is not `count`').waitFor();
  await page.locator('.cm-lintRange-error').waitFor();
  await retype(
    page,
    'name: revenue',
    '- { name: income, sql: amount, type: sum, filters: [{ sql: "{CUBE}.amount > 5" }] }',
  );
  await problems.getByText('The model compiles').waitFor();
  await page.keyboard.press('Control+s');
  await page.getByText('Not saved').waitFor({ state: 'detached' });

  // Without the measure the dashboard fails.
  await page.getByRole('button', { name: 'Merge', exact: true }).click();
  const breaks = page.getByRole('region', { name: 'What breaks if you merge' });
  await breaks.getByRole('link', { name: 'Takings of the day' }).waitFor();
  expect(await breaks.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringMatching(/^fails\s+published dashboard Takings of the day\s+takings\.revenue/),
    expect.stringMatching(/^fails\s+report Takings\s+takings\.revenue/),
  ]);
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');

  // Mended, it only shows other numbers.
  await retype(
    page,
    'name: income',
    '- { name: revenue, sql: amount, type: sum, filters: [{ sql: "{CUBE}.amount > 5" }] }',
  );
  await problems.getByText('The model compiles').waitFor();
  await page.keyboard.press('Control+s');
  await page.getByText('Not saved').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Merge', exact: true }).click();
  await breaks.getByText('Nothing fails').waitFor();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('takings.revenue', { exact: true }).first().waitFor();
  await dialog.locator('.diff .new').first().waitFor();
  await dialog.getByText('filters changed from nothing to {takings}.amount > 5').waitFor();

  // Meanwhile another person changes the same line of the live model.
  await deployModel(world, deploymentId, {
    [FILE]: MODEL.replace('type: sum }', 'type: sum, title: Money }'),
  });
  await dialog.getByLabel('What changes, in a sentence').fill('Count takings above five');
  await dialog.getByRole('button', { name: 'Merge', exact: true }).click();
  const place = dialog.getByRole('group', { name: 'Place 1 of 1' });
  await place.getByText('title: Money').waitFor();
  const solve = dialog.getByRole('button', { name: 'Keep these lines and merge' });
  // Nothing is chosen for anybody.
  expect(await solve.isDisabled()).toBe(true);
  await place.getByRole('radio').first().check();
  await solve.click();
  await page.getByText('Merged into main.').waitFor();
  const messages = page.getByRole('region', { name: 'Messages' });
  expect(await messages.getByRole('link', { name: 'Explore' }).getAttribute('href')).toMatch(/\/explore$/);
  await page.getByRole('button', { name: 'Branch: main' }).waitFor();
  await whenBuilt(world, deploymentId);
  await expect.poll(async () => JSON.stringify(await revenue())).toContain('"7"');
  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByText('Count takings above five').first().waitFor();
  // What the browser says of the merge with a conflict.
  expect(errors).toEqual([expect.stringContaining('409')]);
});

test('a file that is dropped becomes a table, a model and an answer, before anything is live', async () => {
  const { page, errors } = await signIn(`/d/${deploymentId}/admin/sources`);
  await page.getByLabel('Choose files', { exact: true }).setInputFiles({
    name: 'Stock list.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('id,place,amount\n1,Berlin,5\n2,Paris,7\n'),
  });
  await page.getByText('Stock_list.csv is the table files.Stock_list.').waitFor();
  // On a phone all of a row is seen, with what can be done, and nothing scrolls to the side.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('row', { name: /Stock_list/ }).waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  const beside =
    "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.console-table'))";
  expect(await page.evaluate(beside)).toBe(0);
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.getByLabel('Choose files.Stock_list').check();
  await page.getByRole('button', { name: 'Draft a model' }).click();
  await page.getByRole('textbox').first().waitFor();
  expect(await page.getByRole('checkbox', { name: 'id' }).isChecked()).toBe(true);
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Write 1 file to your branch' }).click();
  await line(page, 'name: stock_list').waitFor();

  // A member gets another name, and the branch answers with it.
  const menu = page.getByRole('button', { name: 'Actions of the branch' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Rename a member' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Cube or view').selectOption('stock_list');
  await dialog.getByLabel('Member').selectOption('total_amount');
  await dialog.getByLabel('New name').fill('worth');
  await dialog.getByRole('button', { name: 'Rename', exact: true }).click();
  await dialog.getByText('stock_list.worth: 1 place in 1 file changed.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Playground' }).click();
  await page.getByLabel('Find a member').fill('worth');
  await page.getByRole('checkbox', { name: 'stock_list.worth' }).check();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('cell', { name: '12', exact: true }).waitFor();
  await page.getByText('Generated SQL').click();
  await page.getByText('sum(').first().waitFor();
  expect(await violations(page)).toEqual([]);
  await expect(
    world.admin.load({ deploymentId, body: { query: { measures: ['stock_list.worth'] } } }),
  ).rejects.toMatchObject({ code: 'unknown_member' });

  // An earlier version comes back, and waits to be committed.
  await page.getByRole('button', { name: 'Commit', exact: true }).click();
  await dialog.getByRole('textbox').fill('Count the stock');
  await dialog.getByRole('button', { name: 'Commit', exact: true }).click();
  await page.getByText('Committed.').waitFor();
  await page.reload();
  await page.getByRole('tab', { name: 'History' }).click();
  await page.locator('.studio-history .tree-row').nth(1).click();
  await page.getByRole('button', { name: 'Restore this version' }).click();
  await dialog.getByRole('button', { name: 'Restore this version' }).click();
  await page.getByText('The files are as they were in this commit.').waitFor();
  await page.getByRole('tab', { name: 'Files' }).click();
  await page.getByRole('button', { name: 'stock_list.yml', exact: true }).waitFor({ state: 'detached' });
  expect(errors).toEqual([]);
});
