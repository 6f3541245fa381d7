/** The console in a real browser: the slow query of one customer is ended, SCIM is set up, and a person leaves. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from './browser.ts';
import { entraUser, oktaUser, scimClient, searchFor } from './scim.ts';
import { deployModel } from './shops.ts';
import { createSignable, PASSWORD, signedIn } from './sign-in.ts';
import { createSourceDatabase, type SourceDatabase, variablesOf } from './source-database.ts';
import { createWorld, unique, type World } from './world.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const violations = (page: Page) =>
  page.evaluate(
    `(() => { const module = undefined, exports = undefined; ${AXE}; return axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' '))); })()`,
  );
const MODEL = `cubes:
  - name: slow
    sql: "select 1 as id, pg_sleep(600)::text as text /* sleeps */"
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: text, sql: text, type: string }
    access_policy: [{ group: "*" }]
`;

let world: World;
let source: SourceDatabase;
let browser: Browser;
let deploymentId: number;
beforeAll(async () => {
  // The data source is on loopback.
  world = await createWorld({ ORIEL_ALLOW_PRIVATE_REMOTES: 'true' });
  source = await createSourceDatabase('select 1');
  ({ id: deploymentId } = await world.deployment());
  await world.admin.setEnvVariables({ deploymentId, body: { env_variables: variablesOf(source.source) } });
  await deployModel(world, deploymentId, { 'model/cubes/slow.yml': MODEL });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
  await source?.stop();
});

async function signIn(path: string) {
  const person = await createSignable(world, { roles: ['Admin'] });
  const context = await browser.newContext({
    baseURL: world.url,
    locale: 'en-US',
    viewport: { width: 1280, height: 860 },
  });
  const page = await context.newPage();
  await page.goto('/sign-in');
  await page.fill('#username', person.email);
  await page.fill('#password', PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL((url) => url.pathname !== '/sign-in');
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(path);
  return { page, errors };
}

test('an operator finds the slow query of one customer, of another deployment than that of the address, and ends it', async () => {
  const { id: elsewhere } = await world.deployment();
  const [customer, other, externalId] = [unique('customer'), unique('customer'), unique('viewer')];
  const ask = async (embedTenantName: string, viewer: string, dimensions: string[]) => {
    const { client } = await world.embedded({ deploymentId, embedTenantName, externalId: viewer });
    return client.load({ deploymentId, body: { query: { dimensions } } }).catch((error) => error);
  };
  const asked = ask(customer, externalId, ['slow.text']);
  const ofOther = ask(other, unique('viewer'), ['slow.text', 'slow.id']);

  const { page, errors } = await signIn(`/d/${elsewhere}/admin/queries`);
  const running = page.getByRole('region', { name: 'Running', exact: true });
  await running.getByRole('cell', { name: other, exact: true }).waitFor();
  await page.getByLabel('Embed tenant', { exact: true }).fill(customer);
  await page.waitForURL(/embedTenantName=/);
  await expect.poll(() => running.getByRole('row').count()).toBe(2);
  const row = running.getByRole('row', { name: externalId });
  await row.getByText('Running', { exact: true }).waitFor();
  expect(await row.innerText()).toContain(customer);
  expect(await violations(page)).toEqual([]);

  // Who asks leads to what else they ask, and their name stands for them in the filter.
  await row.getByRole('button', { name: 'Details' }).click();
  await page.getByRole('dialog').getByText('slow.text').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Show only their queries' }).click();
  await page.waitForURL(/userId=\d+/);
  await expect.poll(() => running.getByRole('row').count()).toBe(2);

  await row.getByRole('button', { name: 'End query' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End query' }).click();
  expect(await asked).toMatchObject({ status: 409, code: 'query_cancelled' });
  const slow = page.getByRole('region', { name: 'Slow', exact: true });
  const kept = slow.getByRole('row', { name: externalId });
  await kept.getByText('Cancelled (query_cancelled)').waitFor();
  await page.getByText('No query runs').waitFor();
  // In one day from now there is none.
  await page.getByLabel('From').fill('2099-01-01T00:00');
  await page.getByText('No query was slow').waitFor();

  // Who runs it: an engine with its memory, of a source that answers.
  await page.goto(`/d/${elsewhere}/admin/servers`);
  const { name } = await world.admin.getDeployment({ deploymentId });
  const engine = page.getByRole('region', { name: 'Engine processes' }).getByRole('row', { name });
  await engine.getByText('Busy', { exact: true }).waitFor();
  expect(await engine.innerText()).toMatch(/[1-9]\d* MB/);
  expect(await violations(page)).toEqual([]);

  // The other customer's goes on.
  const { items } = await world.admin.listRunningQueries({ embedTenantName: other });
  expect(items).toHaveLength(1);
  await world.admin.cancelQuery({ id: items[0]!.id });
  await ofOther;
  expect(errors).toEqual([]);
});

test('SCIM set-up by the words of the page works with what Okta and Entra ID send', async () => {
  const { page, errors } = await signIn(`/d/${deploymentId}/admin/sign-in`);
  const card = page.locator('section.console-card', { hasText: 'Provisioning with SCIM 2.0' });
  const shown = (label: string) => card.getByLabel(label, { exact: true }).inputValue();
  const setUp = async (provider: string, base: string, secret: string) => {
    await card.getByRole('button', { name: provider, exact: true }).click();
    await card.getByRole('button', { name: 'Make a token' }).click();
    await card.getByText('This is shown only now').waitFor();
    const { origin, pathname } = new URL(await shown(base));
    expect(origin).toBe(world.url);
    const scim = scimClient(world, `Bearer ${await shown(secret)}`, pathname);
    expect(await violations(page)).toEqual([]);
    const users = (await scim('GET', '/Users?count=1')).body.totalResults;
    await card.getByRole('button', { name: 'Test as the provider would' }).click();
    await card.getByText(`The provider can read and write here: ${users} users.`).waitFor();
    expect((await scim('GET', '/Users?count=1')).body.totalResults).toBe(users);
    return scim;
  };

  const [okta, entra] = [`${unique('okta')}@example.com`, unique('entra')];
  const fromOkta = await setUp('Okta', 'SCIM connector base URL', 'Authorization: Bearer');
  expect(await shown('Unique identifier field for users')).toBe('userName');
  expect((await fromOkta('GET', searchFor(okta))).body.totalResults).toBe(0);
  expect((await fromOkta('POST', '/Users', oktaUser(okta))).status).toBe(201);
  const fromEntra = await setUp('Microsoft Entra ID', 'Tenant URL', 'Secret Token');
  expect((await fromEntra('POST', '/Users', entraUser(entra))).status).toBe(201);
  expect(errors).toEqual([]);

  // A token that may only read is told apart.
  const { key } = await world.admin.createApiKey({ body: { name: 'scoped', deploymentIds: [deploymentId] } });
  await card.getByLabel('Token to test').fill(key);
  await card.getByRole('button', { name: 'Test as the provider would' }).click();
  await card.getByText('The token can read, but not write.').waitFor();

  await page.getByRole('link', { name: 'Users', exact: true }).click();
  for (const [userName, name] of [
    [okta, 'Test'],
    [entra, 'givenName'],
  ] as const) {
    await page.getByLabel('Search', { exact: true }).fill(userName);
    const row = page.getByRole('region', { name: 'Users' }).getByRole('row', { name: userName });
    await row.getByText(name, { exact: true }).waitFor();
  }
});

test('an admin ends the session of a person who leaves, and gives what they own to somebody', async () => {
  const person = await signedIn(world, { roles: ['Explorer'] });
  const { id: workbookId } = await person.client.createWorkbook({ deploymentId, body: {} });
  const heir = await createSignable(world, { roles: ['Explorer'] });
  const { page } = await signIn(`/d/${deploymentId}/admin/users`);
  await page.getByLabel('Search', { exact: true }).fill(person.email);
  const users = page.getByRole('region', { name: 'Users' });
  await expect.poll(() => users.getByRole('row').count()).toBe(2);
  const choose = async (item: string) => {
    await users.getByRole('button', { name: /^Actions/ }).click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
  };

  await choose('Sessions');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'End', exact: true }).click();
  await dialog.getByText('There is no session').waitFor();
  await expect.poll(() => person.client.getMe().catch(({ status }) => status)).toBe(401);
  await page.keyboard.press('Escape');

  await choose('Delete');
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('The user owns content').waitFor();
  // By keys alone.
  await dialog.getByRole('combobox', { name: 'New owner of their content' }).fill(heir.email);
  await dialog.getByRole('option', { name: heir.email }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await expect.poll(() => dialog.getByRole('combobox').inputValue()).toContain(heir.email);
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('Nobody matches').waitFor();
  expect(await world.admin.getWorkbook({ deploymentId, workbookId })).toMatchObject({ userId: heir.id });
});
