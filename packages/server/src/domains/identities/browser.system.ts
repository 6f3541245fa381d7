/** Signing in and out with the provider, in a real browser and, except in the app, without scripts. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../test/browser.ts';
import { createSignable, PASSWORD } from '../../../test/sign-in.ts';
import { type SignInProvider, startProvider } from '../../../test/sign-in-provider/index.ts';
import { newAccount } from '../../../test/sign-in-provider/visits.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let provider: SignInProvider;
let world: World;
let browser: Browser;
beforeAll(async () => {
  provider = await startProvider();
  world = await createOwnWorld({
    env: { ...provider.env, ORIEL_OIDC_CREATE_USERS: 'true', ORIEL_OIDC_NAME: 'Acme' },
  });
  await provider.serve(world.url);
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([world?.stop(), provider?.stop()]);
});

async function open<T>(visit: (page: Page) => Promise<T>, javaScriptEnabled = false): Promise<T> {
  const context = await browser.newContext({ baseURL: world.url, javaScriptEnabled });
  try {
    return await visit(await context.newPage());
  } finally {
    await context.close();
  }
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click();
const asksToSignIn = async (page: Page, path: string) => {
  await page.goto(path);
  return page.getByLabel('Email or username').isVisible();
};
const shownEmail = (page: Page) => page.locator('.visitor .muted').innerText();
/** From the app, where people are after signing in, to a page that says who they are without scripts. */
const toDevice = async (page: Page) => {
  await page.waitForURL(/^[^?]*:\d+\/(?:d\/|$)/);
  await page.goto('/device');
};

test('a person signs in with the provider, and signs out here and there', () =>
  open(async (page) => {
    const [ada, grace] = [newAccount(), newAccount()];
    await provider.expect(ada);
    await page.goto('/device');
    await follow(page, 'Sign in with Acme');
    await page.waitForURL('/device');
    expect(await shownEmail(page)).toContain(ada.email);

    await press(page, 'Use another account');
    await provider.expect(grace);
    await follow(page, 'Sign in with Acme');
    await page.waitForURL('/device');
    // The provider still knows who this is.
    expect(await shownEmail(page)).toContain(ada.email);

    await press(page, 'Use another account');
    await follow(page, 'Sign out at Acme too');
    await press(page, 'Yes, sign me out');
    await page.waitForURL('/sign-in');
    await follow(page, 'Sign in with Acme');
    await toDevice(page);
    expect(await shownEmail(page)).toContain(grace.email);
  }));

test('an invited person chooses the provider instead of a password', () =>
  open(async (page) => {
    const username = unique('invited');
    const { invitationUrl } = await world.admin.createUser({
      body: { username, email: `${username}@example.com`, roles: ['Developer'] },
    });
    await provider.expect(newAccount());
    await page.goto(invitationUrl!);
    await follow(page, 'Sign in with Acme from now on');
    await toDevice(page);
    expect(await shownEmail(page)).toContain(`${username}@example.com`);
    await page.goto(invitationUrl!);
    expect(await page.locator('h1').innerText()).toBe('This link no longer works');
  }));

test('a person with a password removes their sign-in with the provider, and stays signed in here', () =>
  open(async (page) => {
    const { id, email } = await createSignable(world, { roles: [] });
    const { url } = await world.admin.createResetLink({ id, body: {} });
    const account = newAccount();
    await provider.expect(account);
    await page.goto(url);
    await follow(page, 'Sign in with Acme from now on');
    const remove = async () => {
      await page.goto('/account');
      await press(page, `Remove: ${account.sub}`);
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    };
    await page.waitForURL('/');
    await remove();
    await page.getByText('You have no password, so you could not sign in any more.').waitFor();
    await world.admin.updateUser({ id, body: { password: PASSWORD } });
    // The new password ended the session, and the server hears so a moment later.
    await expect.poll(() => asksToSignIn(page, '/device')).toBe(true);
    await page.getByLabel('Email or username').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await press(page, 'Sign in');
    await page.waitForURL('/device');
    await remove();
    await page.getByText('It does not sign you in any more.').waitFor();
    expect(await world.admin.listUserIdentities({ id })).toEqual([]);
    expect(await page.getByText('Sign-in without a password').count()).toBe(0);
  }, true));

test('another site cannot give an identity to a user of its choice', () =>
  open(async (page) => {
    const username = unique('chosen');
    const { invitationUrl, id } = await world.admin.createUser({
      body: { username, email: `${username}@example.com` },
    });
    await provider.expect(newAccount());
    const address = `${world.url}/sign-in/provider${new URL(invitationUrl!).search}`;
    const body = `<a href="${address}">A present</a>`;
    await page.route('http://evil.test/**', (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.goto('http://evil.test/');
    await follow(page, 'A present');
    expect(await page.locator('h1').innerText()).toBe('This was not allowed');
    const { items } = await world.admin.listAuditLog({ resourceType: 'identity', resourceId: String(id) });
    expect(items).toEqual([]);
  }));

test('another site cannot do so by way of our sign-in page', () =>
  open(async (page) => {
    const { email } = await createSignable(world);
    const { id, invitationUrl } = await world.admin.createUser({
      body: { username: unique('chosen'), email: `${unique('chosen')}@example.com` },
    });
    await provider.expect(newAccount());
    const next = `/sign-in/provider${new URL(invitationUrl!).search}`;
    await page.goto(`/sign-in?${new URLSearchParams({ next })}`);
    await page.getByLabel('Email or username').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await press(page, 'Sign in');
    await toDevice(page);
    const { items } = await world.admin.listAuditLog({ resourceType: 'identity', resourceId: String(id) });
    expect(items).toEqual([]);
  }));

test('a person whom the provider does not confirm reads why, and can try again', () =>
  open(async (page) => {
    await provider.expect(newAccount({ email: undefined }));
    await page.goto('/sign-in');
    await follow(page, 'Sign in with Acme');
    expect(await page.getByRole('alert').innerText()).toContain('no verified email address');
    await follow(page, 'Go back');
    await page.waitForURL('/sign-in');
  }));
