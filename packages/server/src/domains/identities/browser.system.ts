/** Signing in and out with the provider, in a real browser and without scripts. */
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

async function open<T>(visit: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ baseURL: world.url, javaScriptEnabled: false });
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
const shownEmail = (page: Page) => page.locator('.lead').first().innerText();
/** From the app, where people are after signing in. */
const toAccount = async (page: Page) => {
  await page.waitForURL(/^[^?]*:\d+\/(?:d\/|$)/);
  await page.goto('/account');
};

test('a person signs in with the provider, and signs out here and there', () =>
  open(async (page) => {
    const [ada, grace] = [newAccount(), newAccount()];
    await provider.expect(ada);
    await page.goto('/device');
    await follow(page, 'Sign in with Acme');
    await page.waitForURL('/device');
    await page.goto('/account');
    expect(await shownEmail(page)).toContain(ada.email);

    await press(page, 'Sign out');
    await provider.expect(grace);
    await follow(page, 'Sign in with Acme');
    await toAccount(page);
    // The provider still knows who this is.
    expect(await shownEmail(page)).toContain(ada.email);

    await press(page, 'Sign out');
    await follow(page, 'Sign out at Acme too');
    await press(page, 'Yes, sign me out');
    await page.waitForURL('/sign-in');
    await follow(page, 'Sign in with Acme');
    await toAccount(page);
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
    await toAccount(page);
    expect(await shownEmail(page)).toContain(`${username}@example.com`);
    await page.goto(invitationUrl!);
    expect(await page.locator('h1').innerText()).toBe('This link no longer works');
  }));

test('a person with a password removes their sign-in with the provider, and stays signed in here', () =>
  open(async (page) => {
    const { id, email } = await createSignable(world);
    const { url } = await world.admin.createResetLink({ id, body: {} });
    await provider.expect(newAccount());
    await page.goto(url);
    await follow(page, 'Sign in with Acme from now on');
    await toAccount(page);
    expect(await page.getByRole('button', { name: 'Remove the sign-in with Acme' }).count()).toBe(0);
    await world.admin.updateUser({ id, body: { password: PASSWORD } });
    // The new password ended the session, and the server hears so a moment later.
    await expect.poll(() => asksToSignIn(page, '/account')).toBe(true);
    await page.getByLabel('Email or username').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await press(page, 'Sign in');
    await page.waitForURL('/account');
    await press(page, 'Remove the sign-in with Acme');
    expect(await page.getByRole('status').innerText()).toContain('does not sign you in any more');
    expect(await page.getByText('Sign in with Acme').count()).toBe(0);
  }));

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
    await toAccount(page);
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
