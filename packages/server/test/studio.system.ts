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
  page.setDefaultTimeout(30_000);
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
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { violations } = await (
      globalThis as never as { axe: { run(): Promise<{ violations: { id: string }[] }> } }
    ).axe.run();
    return violations.map(({ id }) => id);
  });
  expect(found).toEqual([]);
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
  await dialog.getByLabel('What changes, in a sentence').fill('Count takings above five');
  await dialog.getByRole('button', { name: 'Merge', exact: true }).click();
  await page.getByText('Merged into main.').waitFor();
  await page.getByRole('button', { name: 'Branch: main' }).waitFor();
  await whenBuilt(world, deploymentId);
  await expect.poll(async () => JSON.stringify(await revenue()), { timeout: 20_000 }).toContain('"7"');
  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByText('Count takings above five').first().waitFor();
  expect(errors).toEqual([]);
}, 120_000);
