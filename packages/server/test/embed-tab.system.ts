/** An admin tries a dashboard as a viewer of a customer, and pastes the code into a backend. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import axe from 'axe-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DESKTOP, openBrowser, PHONE } from './browser.ts';
import { whenBuilt } from './shops.ts';
import { createSignable, PASSWORD } from './sign-in.ts';
import { ADMIN_KEY, createOwnWorld, type World } from './world.ts';

const deploymentId = 1;
let world: World;
let browser: Awaited<ReturnType<typeof openBrowser>>;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  await whenBuilt(world, deploymentId);
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

test('what a viewer sees is shown beside the code that shows it to them', async () => {
  const admin = await createSignable(world, { roles: ['Admin'] });
  const { items } = await world.admin.getWorkbooks({ deploymentId, first: 100 });
  const workbook = items.find(({ name }) => name === 'Commerce overview')!;
  const problems: string[] = [];
  const page = await browser.newPage({ viewport: { ...DESKTOP, width: 1280 } });
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${world.url}/sign-in?next=/d/${deploymentId}/workbooks/${workbook.id}`);
  await page.fill('input[name=username]', admin.email);
  await page.fill('input[name=password]', PASSWORD);
  await page.locator('input[name=password]').press('Enter');
  await page.getByRole('link', { name: 'Embed', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: /^Embed/ }).waitFor();

  // The attribute decides which rows the policies of the demo show.
  await page.getByLabel('Groups').fill('analysts');
  await page.getByLabel('Attributes').fill('region');
  await page.getByText('Line 1 has no “=”.').waitFor();
  await page.getByLabel('Attributes').fill('region = EU');
  const keysBefore = (await world.admin.listApiKeys({ first: 1000 })).items.length;
  await page.getByRole('button', { name: 'Show the dashboard as this viewer' }).click();
  const frame = page.frameLocator('iframe');
  await frame.getByRole('heading', { level: 1 }).waitFor();
  expect(page.frames().some((one) => one.url().includes('session='))).toBe(false);
  const { items: sessions } = await world.admin.listEmbedSessions({ deploymentId, first: 10 });
  expect(sessions).toEqual([
    expect.objectContaining({ embedTenantName: 'acme-corp', externalId: 'customer-42' }),
  ]);
  // The key that minted the session is gone.
  expect((await world.admin.listApiKeys({ first: 1000 })).items).toHaveLength(keysBefore);

  // What a backend pastes works as it is.
  const node = await page.getByRole('region', { name: 'Your backend' }).locator('code').innerText();
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', `${node}\nconsole.log(sessionId)`],
    { env: { ORIEL_API_KEY: ADMIN_KEY } },
  );
  expect(stdout).toMatch(/^\d+\.\S+\n$/);

  await page.getByLabel('This dashboard may be embedded').uncheck();
  await page.getByText('Embedding is off for this dashboard.').waitFor();
  expect(await world.admin.getEmbedAccess({ deploymentId, workbookId: workbook.id })).toMatchObject({
    allowEmbed: false,
  });
  await page.getByLabel('This dashboard may be embedded').check();

  for (const size of [DESKTOP, PHONE]) {
    await page.setViewportSize(size);
    await page.evaluate(axe.source);
    const found = (await page.evaluate(
      `axe.run({ exclude: ['iframe'] }).then(({ violations }) => violations.map(({ id }) => id))`,
    )) as string[];
    expect(found).toEqual([]);
  }
  expect(problems).toEqual([]);
  await page.close();
});
