/** An admin in the console: tries a session, finds out why a viewer sees no rows, mends it in place, and ends their sessions. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DESKTOP, openBrowser, PHONE } from './browser.ts';
import { createShop, shopWith } from './shops.ts';
import { createSignable, PASSWORD } from './sign-in.ts';
import { createOwnWorld, type World } from './world.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TENANT = 'globex';
const POLICY = `    access_policy:
      - group: partners
        row_level: { filters: [{ member: region, operator: equals, values: ["{ userAttributes.area }"] }] }
      - group: partners
        row_level: { filters: [{ member: name, operator: equals, values: ["{ securityContext.name }"] }] }
`;

let world: World;
let browser: Browser;
let deploymentId: number;
let workbookId: number;
beforeAll(async () => {
  world = await createOwnWorld();
  deploymentId = await createShop(world, shopWith(POLICY));
  await world.admin.createUserGroup({ body: { name: 'partners' } });
  await world.admin.createUserAttribute({ body: { name: 'area', type: 'string' } });
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Customers of ours' } })).id;
  const { id: reportId } = await world.admin.createReport({
    deploymentId,
    body: {
      ...{ workbookId, name: 'Names', jsonQuery: JSON.stringify({ dimensions: ['customers.name'] }) },
      meta: { chart: { kind: 'table', spec: {} } },
    } as never,
  });
  const widget = { id: 'a', type: 'CHART' as const, position: { x: 0, y: 0, w: 6, h: 6 } };
  const config = { widgets: [{ ...widget, config: { reportId } }] };
  await world.admin.publishDashboard({ deploymentId, workbookId, body: { config } as never });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

async function look(page: Page, name: string) {
  await page.evaluate(AXE);
  for (const size of [DESKTOP, PHONE]) {
    await page.setViewportSize(size);
    const found = (await page.evaluate(
      `axe.run({ exclude: ['iframe'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
    )) as string[];
    expect(found, `${name} at ${size.width}`).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).toBe(0);
  }
  await page.setViewportSize(DESKTOP);
}

test('an admin finds out why one viewer sees no rows, mends it without leaving the page, and ends their sessions', async () => {
  const admin = await createSignable(world, { roles: ['Admin'] });
  const { client: viewer } = await world.embedded({
    ...{ deploymentId, embedTenantName: TENANT, externalId: 'wile', groups: ['partners'] },
  });
  const query = { dimensions: ['customers.name'], order: { 'customers.name': 'asc' as const } };
  const names = async () => {
    const reply = await viewer.load({ deploymentId, body: { query } });
    return (reply as { data: Record<string, unknown>[] }).data.map((row) => row['customers.name']);
  };
  expect(await names()).toEqual([]);

  const page = await browser.newPage({ viewport: DESKTOP, locale: 'en-US' });
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${world.url}/sign-in?next=/d/${deploymentId}/admin/dry-run`);
  await page.fill('input[name=username]', admin.email);
  await page.fill('input[name=password]', PASSWORD);
  await page.locator('input[name=password]').press('Enter');

  // What the backend would be told: a group that there is not.
  await page.getByLabel('Embed tenant').fill(TENANT);
  await page.getByLabel('External id').last().fill('wile');
  await page.getByLabel('Groups, separated by commas').fill('partners, nobody');
  await page.getByRole('button', { name: 'Try it' }).click();
  const groups = page.getByLabel('Groups, separated by commas');
  await expect.poll(() => groups.getAttribute('aria-invalid')).toBe('true');
  expect(await page.locator('.note.bad').allInnerTexts()).toEqual(['Groups with names nobody not found']);
  await look(page, 'dry run');
  await groups.fill('partners');
  await page.getByRole('button', { name: 'Try it' }).click();
  await page.getByText('The session would be minted.').waitFor();
  await page.getByText('The viewer wile is there already.').waitFor();

  // From the customer to the viewer, and to what is in the way.
  await page.getByRole('link', { name: 'Embed tenants', exact: true }).click();
  await page.getByRole('link', { name: TENANT, exact: true }).click();
  await look(page, 'tenant');
  await page.getByRole('link', { name: 'wile', exact: true }).click();
  await page.getByText('Does not see it').waitFor();
  await look(page, 'viewer');
  await page.getByRole('button', { name: 'Allow embedding' }).click();
  await page.getByRole('button', { name: `Open it to ${TENANT}` }).click();
  await page.getByText('Sees no rows').waitFor();
  // Two policies, each of which lacks a value: one that can be set here, and one that only a session brings.
  await page.getByText(/name” must match a value of the security context/).waitFor();
  await page.getByRole('button', { name: 'Set “area”' }).click();
  await page.keyboard.type('EMEA');
  await page.keyboard.press('Enter');
  await page.getByText('Sees their rows').waitFor();
  await page.getByText(/region” fits: EMEA$/).waitFor();
  expect(await names()).toEqual(['Ada', 'Cyd']);

  // The ledger shows the session, and ends it.
  await page.getByRole('link', { name: '1 works now' }).click();
  await page.getByRole('cell', { name: 'In use' }).waitFor();
  await look(page, 'sessions');
  await page.getByRole('button', { name: 'Revoke all of the viewer' }).click();
  await page.getByText('This ends 1 live session,').waitFor();
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByRole('cell', { name: 'Revoked' }).waitFor();
  await expect.poll(() => names().catch((error) => error.status)).toBe(401);

  // Where pages may be shown.
  await page.getByRole('link', { name: 'Origins and look' }).click();
  const origins = page.getByRole('region', { name: 'Allowed origins' });
  await origins.getByLabel('Origin').fill('https://app.example.com/page');
  await origins.getByRole('button', { name: 'Add' }).click();
  await origins.getByText('Give scheme, host and port only').waitFor();
  await origins.getByLabel('Origin').fill('https://app.example.com');
  await origins.getByRole('button', { name: 'Add' }).click();
  await origins.getByRole('listitem').waitFor();
  await page.getByLabel('Address of the page').fill('https://shop.example.com/');
  await page.getByText('Its origin is not allowed.').waitFor();
  expect(problems).toEqual([]);
  await page.close();
});
