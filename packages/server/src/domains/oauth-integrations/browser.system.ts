/** An admin adds a service in the console, and a person connects to it on their account page, in a real browser. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { connectingRole, storedTokens } from '../../../test/oauth.ts';
import { createSignable, PASSWORD } from '../../../test/sign-in.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type SignInProvider,
  startProvider,
} from '../../../test/sign-in-provider/index.ts';
import { newAccount } from '../../../test/sign-in-provider/visits.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

let provider: SignInProvider;
let world: World;
let browser: Browser;
let deploymentId: number;
beforeAll(async () => {
  provider = await startProvider();
  world = await createOwnWorld({ env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true' } });
  await provider.serve(world.url);
  ({ id: deploymentId } = await world.deployment());
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([world?.stop(), provider?.stop()]);
});

async function signIn(roles: string[], next: string) {
  const person = await createSignable(world, { roles });
  const page = await browser.newPage({ baseURL: world.url, locale: 'en-US' });
  await page.goto(`/sign-in?${new URLSearchParams({ next })}`);
  await page.fill('#username', person.email);
  await page.fill('#password', PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  return { person, page };
}

test('an admin adds a service, and a person connects to it, sees it, and ends it', async () => {
  const { page: console } = await signIn(['Admin'], `/d/${deploymentId}/admin/services`);
  await console.getByRole('button', { name: 'Add a service' }).click();
  const dialog = console.getByRole('dialog');
  const field = (name: string) => dialog.getByLabel(name, { exact: true });
  await field('Name').fill('The warehouse');
  expect(await field('Redirect address').inputValue()).toBe(`${world.url}/oauth/callback/the-warehouse`);
  await field('Redirect address').fill('https://elsewhere.example.com/oauth/callback');
  await field('Authorization address').fill(`${provider.issuer}/auth`);
  await field('Token address').fill(`${provider.issuer}/token`);
  await field('Revocation address').fill(`${provider.issuer}/token/revocation`);
  await field('Client id').fill(CLIENT_ID);
  await field('Client secret').fill(CLIENT_SECRET);
  await field('Scopes').fill('openid');
  await dialog.getByRole('button', { name: 'Create' }).click();
  // What is wrong stands beside its field.
  await expect.poll(() => field('Redirect address').getAttribute('aria-invalid')).toBe('true');
  await field('Redirect address').fill(`${world.url}/oauth/callback`);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await console.getByRole('cell', { name: 'The warehouse', exact: true }).waitFor();

  const role = await connectingRole(world);
  const { page, person } = await signIn([role], '/account');
  await provider.expect(newAccount());
  await page.getByRole('button', { name: 'Connect: The warehouse' }).click();
  await page.getByText('You are connected.').waitFor();
  expect(await storedTokens(world, person.id)).toMatchObject([{ accessToken: expect.any(String) }]);
  await page.getByRole('button', { name: 'Disconnect: The warehouse' }).click();
  await page.getByRole('button', { name: 'Connect: The warehouse' }).waitFor();
});
