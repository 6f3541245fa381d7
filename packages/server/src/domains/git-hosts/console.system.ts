/** The pages of the console for git hosts and webhooks, in a browser. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { createGitHttp, type GitHttp } from '../../../test/git-http.ts';
import { createSignable, PASSWORD } from '../../../test/sign-in.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

let world: World;
let host: GitHttp;
let receiver: Server;
let browser: Browser;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true' } });
  host = await createGitHttp();
  receiver = createServer((_request, response) => response.writeHead(204).end()).listen(0, '127.0.0.1');
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  receiver?.close();
  await world?.stop();
  await host?.stop();
});

async function signedIn(role: string): Promise<Page> {
  const { email } = await createSignable(world, { roles: [role] });
  const page = await browser.newPage({ baseURL: world.url, locale: 'en-US' });
  await page.goto('/sign-in');
  await page.fill('input[name=username]', email);
  await page.fill('input[name=password]', PASSWORD);
  await page.locator('input[name=password]').press('Enter');
  await page.waitForURL((url) => !url.pathname.includes('sign-in'));
  return page;
}

test('an admin connects a repository and makes a webhook, and others are offered what they may do', async () => {
  const { id } = await world.deployment();
  await host.createRepository('model');
  const page = await signedIn('Admin');
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });

  await page.goto(`/d/${id}/admin/git`);
  await button('Add a git host').click();
  await page.getByLabel('Name').fill('Acme');
  await page.getByLabel('Kind').selectOption('git');
  await page.getByLabel('Address').fill(host.url);
  await page.getByLabel('User', { exact: true }).fill(host.credentials.user);
  await page.getByLabel('Access token').fill('a-token-that-has-ended');
  await inDialog('Create').click();
  await page.getByRole('cell', { name: 'Acme', exact: true }).waitFor();
  // What is cleared is gone, and a token that is not typed stays.
  const user = page.getByLabel('User', { exact: true });
  const saveUser = async (before: string, after: string) => {
    await button('Edit: Acme').click();
    expect(await user.inputValue()).toBe(before);
    await user.fill(after);
    await inDialog('Save').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { items } = await world.admin.installations();
    expect(items[0]!.username).toBe(after || null);
  };
  await saveUser(host.credentials.user, '');
  await saveUser('', host.credentials.user);
  // The token ends, and gets a successor.
  await button('Edit: Acme').click();
  await page.getByLabel('Name').fill('Acme of git');
  await page.getByLabel('Access token').fill(host.credentials.token);
  await inDialog('Save').click();
  await page.getByRole('cell', { name: 'Acme of git', exact: true }).waitFor();
  await button('Connect').click();
  await page.getByLabel('Repository').fill('model.git');
  await inDialog('Connect').click();
  await page.getByRole('heading', { name: 'model.git' }).waitFor();
  await expect
    .poll(() => host.git.run(['-C', 'served/model.git', 'rev-parse', 'main']))
    .toMatch(/^[0-9a-f]{40}/);
  await button('Pull now').click();
  await page.getByText('Both sides are the same').waitFor();
  expect(await page.content()).not.toContain(host.credentials.token);

  // A history that is replaced there is taken only by who types its commit.
  const bare = (...args: string[]) => host.git.run(['-C', 'served/model.git', ...args]);
  const fresh = (await bare('commit-tree', 'main^{tree}', '-m', 'anew')).trim();
  await bare('update-ref', 'refs/heads/main', fresh);
  await button('Pull now').click();
  await page.getByRole('dialog').getByText(fresh).waitFor();
  await page.getByLabel('Commit to take').fill(fresh);
  await inDialog('Take the history of the host').click();
  await expect
    .poll(async () => (await world.admin.listBranches({ deploymentId: id })).items[0]?.lastHash)
    .toBe(fresh);

  await page.goto(`/d/${id}/admin/webhooks`);
  await button('New webhook').click();
  await page.getByLabel('Address').fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
  await page.getByLabel('Name').fill('Chat');
  await inDialog('Create').click();
  expect(await page.getByLabel('Secret', { exact: true }).inputValue()).toMatch(/^whsec_/);
  await page.keyboard.press('Escape');
  await button('Deliveries: Chat').click();
  await button('Test').click();
  await expect
    .poll(async () => {
      await button('Refresh').click();
      return page.getByRole('dialog').innerText();
    })
    .toMatch(/webhook\.test\s+Delivered/);

  const developer = await signedIn('Developer');
  await developer.goto(`/d/${id}/admin/git`);
  await developer.getByRole('button', { name: 'Pull now' }).waitFor();
  for (const name of ['Disconnect', 'New secret', 'Add a git host'])
    expect(await developer.getByRole('button', { name }).count(), name).toBe(0);
  await developer.goto(`/d/${id}/admin/webhooks`);
  await developer.getByText('There is nothing at this address').waitFor();
});
