/** The pages in a real browser, without scripts except for the account, and where a test needs them to look at a page. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, PHONE } from '../../../test/browser.ts';
import { createSignable, logIn, PASSWORD, statusWith } from '../../../test/sign-in.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let browser: Browser;
beforeAll(async () => {
  // Its theme changes. It has a provider, so that the pages show its buttons; `identities` has tests that press them.
  world = await createOwnWorld({
    env: { ORIEL_OIDC_ISSUER: 'https://login.example.com', ORIEL_OIDC_CLIENT_ID: 'oriel' },
  });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

async function open<T>(visit: (page: Page) => Promise<T>, options: BrowserContextOptions = {}): Promise<T> {
  const context = await browser.newContext({ baseURL: world.url, javaScriptEnabled: false, ...options });
  try {
    return await visit(await context.newPage());
  } finally {
    await context.close();
  }
}

const heading = (page: Page) => page.locator('h1').innerText();
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const local = (url: string) => new URL(url).pathname + new URL(url).search;

const SCRIPTS = { javaScriptEnabled: true } as const;

async function signIn(page: Page, email: string, password = PASSWORD) {
  await page.goto('/sign-in?next=/device');
  await page.fill('#username', email);
  await page.fill('#password', password);
  await press(page, 'Sign in');
}

async function typeNewPassword(page: Page, password: string, repeated = password) {
  await page.fill('#newPassword', password);
  await page.fill('#repeated', repeated);
}

test('people sign in and out with the keyboard alone, and see what was wrong', () =>
  open(async (page) => {
    const { email } = await createSignable(world);
    await page.goto('/');
    await page.locator('#username:focus').waitFor();
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type('not the password');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('alert').innerText()).toContain('password is wrong');
    expect(await page.title()).toMatch(/^Error: Sign in/);
    expect(await page.inputValue('#username')).toBe(email);
    expect(await page.getAttribute('#password', 'aria-describedby')).toBe('password-error');
    await page.locator('#password:focus').waitFor();
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Enter');
    await page.waitForURL('/');
    await page.goto('/device');
    await page.getByText(`Signed in as ${email}`).waitFor();
    await page.getByRole('button', { name: 'Use another account' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/notice=signed-out/);
    expect(await page.getByRole('status').innerText()).toBe('You are signed out.');
  }));

test('signing out ends the session, not only the cookie', () =>
  open(async (page) => {
    const { email } = await createSignable(world);
    await signIn(page, email);
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Lax' }]);
    await press(page, 'Use another account');
    await page.context().addCookies(cookies);
    // The server hears of the end of the session a moment later.
    const shown = async () => {
      await page.goto('/device');
      return heading(page);
    };
    await expect.poll(shown).toBe('Sign in');
  }));

describe('the account', () => {
  /** Opens the account page of a person who may read no deployment: the page is there for everybody. */
  const openAccount = async (page: Page, email: string) => {
    await signIn(page, email);
    await page.goto('/account');
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
  };
  const without = () => createSignable(world, { roles: [] });

  test('one session is ended, or all', () =>
    open(async (page) => {
      const person = await without();
      const first = await logIn(world, person);
      const second = await logIn(world, person);
      await openAccount(page, person.email);
      const ends = page.getByRole('button', { name: /^End: / });
      await expect.poll(() => ends.count()).toBe(2);
      await ends.first().click();
      await expect.poll(() => ends.count()).toBe(1);
      const working = async () => {
        const statuses = [first, second].map(({ accessToken }) => statusWith(world.url, accessToken));
        return (await Promise.all(statuses)).filter((status) => status === 200).length;
      };
      await expect.poll(working).toBe(1);
      await press(page, 'Sign out everywhere');
      await page.waitForURL('/sign-in?notice=signed-out-everywhere');
      await expect.poll(working).toBe(0);
      await page.goto('/account');
      expect(await heading(page)).toBe('Sign in');
    }, SCRIPTS));

  test('changing the password keeps this browser signed in, and nothing else', () =>
    open(async (page) => {
      const person = await without();
      const other = await logIn(world, person);
      await openAccount(page, person.email);
      const type = async (current: string, next: string, repeated = next) => {
        await page.getByLabel('Current password', { exact: true }).fill(current);
        await page.getByLabel('New password', { exact: true }).fill(next);
        await page.getByLabel('New password again', { exact: true }).fill(repeated);
        await press(page, 'Change password');
      };
      await type('wrong', 'another good password');
      await page.getByText('The current password is wrong.').waitFor();
      await type(PASSWORD, 'another good password', 'another good passwort');
      await page.getByText('The two passwords are not the same.').waitFor();
      expect(await statusWith(world.url, other.accessToken)).toBe(200);
      await type(PASSWORD, 'another good password');
      await page.getByText('Your password is changed.').waitFor();
      await expect.poll(() => statusWith(world.url, other.accessToken)).toBe(401);
      // The page has the token of the new session.
      await page.getByLabel('Name', { exact: true }).fill('Zoë');
      await press(page, 'Save');
      await page.getByText('Saved', { exact: true }).waitFor();
      await logIn(world, person, 'another good password');
    }, SCRIPTS));
});

test('a link to set a password works once, and looking at it does not use it', () =>
  open(async (page) => {
    const person = await createSignable(world);
    const { url } = await world.admin.createResetLink({ id: person.id });
    await page.goto(local(url));
    await page.goto(local(url));
    expect(await page.inputValue('#account')).toBe(person.email);
    await typeNewPassword(page, 'violet kettle orbit', 'violet kettle comet');
    await press(page, 'Change password and sign in');
    expect(await page.locator('#repeated-error').innerText()).toContain('not the same');
    await typeNewPassword(page, 'violet kettle orbit');
    await press(page, 'Change password and sign in');
    await page.waitForURL('/?notice=password-set');
    await logIn(world, person, 'violet kettle orbit');
    await page.goto(local(url));
    expect(await heading(page)).toBe('This link no longer works');
    expect(await page.locator('main').innerText()).toContain('ask an admin');
  }));

test('an invited person sets a password, is signed in, and can sign in again', () =>
  open(async (page) => {
    const username = unique('invited');
    const email = `${username}@example.com`;
    const { invitationUrl } = await world.admin.createUser({
      body: { username, email, firstName: '<b>Zoë & "Co"</b>' },
    });
    await page.goto(local(invitationUrl!));
    expect(await heading(page)).toBe('Welcome to Oriel');
    expect(await page.locator('.lead').innerText()).toContain('Hello <b>Zoë & "Co"</b>.');
    await typeNewPassword(page, PASSWORD);
    await press(page, 'Set password and sign in');
    await page.waitForURL('/?notice=welcome');
    await page.goto('/device');
    await press(page, 'Use another account');
    await signIn(page, email);
    await page.waitForURL('/device');
    await page.goto(local(invitationUrl!));
    expect(await page.locator('main').innerText()).toContain('ask the person who invited you');
  }));

describe('a device', () => {
  const begin = async () =>
    (await world.client().createDeviceCode({ body: { clientId: 'a-tool' } })) as {
      deviceCode: string;
      userCode: string;
      verificationUriComplete: string;
    };
  const ask = (deviceCode: string) =>
    world.client().exchangeDeviceCode({ body: { deviceCode, clientId: 'a-tool' } }) as Promise<{
      accessToken: string;
    }>;

  test('gets its tokens after a person signed in, saw what they approve, and approved', () =>
    open(async (page) => {
      const { email } = await createSignable(world);
      const { deviceCode, verificationUriComplete } = await begin();
      await page.goto(local(verificationUriComplete));
      expect(await heading(page)).toBe('Sign in');
      await page.fill('#username', email);
      await page.fill('#password', PASSWORD);
      await press(page, 'Sign in');
      expect(await heading(page)).toBe('Connect this device?');
      const shown = await page.locator('dl').innerText();
      for (const text of ['a-tool', '127.0.0.1', email]) expect(shown).toContain(text);
      await expect(ask(deviceCode)).rejects.toMatchObject({ code: 'authorization_pending' });
      await press(page, 'Approve');
      await page.waitForURL('/device?notice=approved');
      expect(await statusWith(world.url, (await ask(deviceCode)).accessToken)).toBe(200);
    }));

  test('shows who is signed in, and lets another person take over with the same code', () =>
    open(async (page) => {
      const [first, second] = [await createSignable(world), await createSignable(world)];
      const { deviceCode, verificationUriComplete } = await begin();
      await signIn(page, first.email);
      const main = () => page.locator('main').innerText();
      for (const path of ['/device', '/device?user_code=BBBB-BBBB', '/device?notice=refused']) {
        await page.goto(path);
        expect(await main()).toContain(`Signed in as ${first.email}`);
      }
      await page.goto(local(verificationUriComplete));
      expect(await main()).toContain(`Signed in as ${first.email}`);
      await press(page, 'Use another account');
      expect(await main()).toContain('You are signed out.');
      await page.fill('#username', second.email);
      await page.fill('#password', PASSWORD);
      await press(page, 'Sign in');
      expect(await heading(page)).toBe('Connect this device?');
      expect(await main()).toContain(`Signed in as ${second.email}`);
      await press(page, 'Approve');
      await page.waitForURL('/device?notice=approved');
      const { accessToken } = await ask(deviceCode);
      const client = world.bearer(accessToken);
      expect(await client.getMe()).toMatchObject({ email: second.email });
    }));

  test('is found by its code in any form, and can be refused', () =>
    open(async (page) => {
      const { email } = await createSignable(world);
      const { deviceCode, userCode } = await begin();
      await signIn(page, email);
      await page.goto('/device');
      await page.fill('#user_code', 'BBBB-BBBB');
      await press(page, 'Continue');
      expect(await page.locator('#user_code-error').innerText()).toContain('No device waits with this code');
      await page.fill('#user_code', ` ${userCode.toLowerCase().replace('-', '')} `);
      await press(page, 'Continue');
      expect(await page.locator('dl').innerText()).toContain(userCode);
      await press(page, 'Refuse');
      await page.waitForURL('/device?notice=refused');
      await expect(ask(deviceCode)).rejects.toMatchObject({ code: 'device_denied' });
    }));
});

test('a form on another site cannot act for a person', () =>
  open(async (page) => {
    const { email } = await createSignable(world);
    await signIn(page, email);
    await page.waitForURL('/device');
    const csrf = await page.locator('form[action="/sign-out"] [name=csrf]').first().inputValue();
    const elsewhere = 'http://evil.test';
    const send = async (action: string, fields: Record<string, string>) => {
      const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
      const body = `<form method="post" action="${world.url}${action}">${inputs.join('')}<button>Go</button></form>`;
      await page.route(`${elsewhere}/**`, (route) => route.fulfill({ contentType: 'text/html', body }));
      await page.goto(elsewhere);
      const answered = page.waitForResponse((response) => response.request().method() === 'POST');
      await press(page, 'Go');
      return (await answered).status();
    };
    // The browser does not send the cookie, so nobody is signed in.
    expect(await send('/sign-out', { csrf, everywhere: 'true' })).toBe(401);
    // Nobody can be signed in as another person, either.
    expect(await send('/sign-in', { username: email, password: PASSWORD })).toBe(403);
    await page.goto('/device');
    expect(await heading(page)).not.toBe('Sign in');
  }));

describe('every page', () => {
  const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

  /** What is wrong with the page for people who cannot see it well, or use no mouse. */
  const problems = async (page: Page) => {
    await page.evaluate(AXE);
    return page.evaluate(async () => {
      const { violations } = await (globalThis as never as { axe: Axe }).axe.run();
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    });
  };
  interface Axe {
    run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
  }

  async function visitEach(page: Page, check: (path: string) => Promise<void>) {
    const person = await createSignable(world);
    const { url } = await world.admin.createResetLink({ id: person.id, body: {} });
    const { verificationUriComplete } = (await world.client().createDeviceCode({
      body: { clientId: 'x'.repeat(255) },
    })) as { verificationUriComplete: string };
    const visit = async (path: string) => {
      await page.goto(path);
      await check(path);
    };
    await signIn(page, person.email, 'wrong');
    await check('a wrong password');
    for (const path of ['/sign-in', '/sign-in?notice=signed-out', local(url), '/invitation'])
      await visit(path);
    await signIn(page, person.email);
    for (const path of ['/device', '/device?user_code=x', local(verificationUriComplete)]) await visit(path);
  }

  test.each([
    ['light on a desktop', { colorScheme: 'light' }],
    ['dark on a phone', { colorScheme: 'dark', viewport: PHONE }],
  ] as const)('has names, labels and contrast, runs nothing and does not scroll sideways: %s', (_, options) =>
    open(
      async (page) => {
        const refused: string[] = [];
        page.on('console', (message) => refused.push(message.text()));
        await visitEach(page, async (path) => {
          expect([path, await problems(page)]).toEqual([path, []]);
          const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
          expect([path, wide]).toEqual([path, 0]);
          expect(await page.locator('script').count()).toBe(0);
        });
        expect(refused.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
      },
      { javaScriptEnabled: true, ...options },
    ),
  );

  test('has the colours of the account, and can still be read', async () => {
    const scheme = { backgroundColor: '#fffbe6', foregroundColor: '#fffbe0', contrast: 1, logoUrl: '' };
    const appTheme = {
      light: { ...scheme, accentColor: '#fff3b0' },
      dark: { ...scheme, accentColor: 'rebeccapurple', backgroundColor: '#201030' },
    };
    await world.admin.updateAppConfig({
      body: { appTheme, applyThemeGlobally: true, creatorMode: { workspaceTitle: '<i>Acme</i>' } },
    });
    for (const colorScheme of ['light', 'dark'] as const) {
      await open(
        async (page) => {
          const background = () =>
            page
              .goto('/sign-in')
              .then(() => page.evaluate('getComputedStyle(document.body).backgroundColor'));
          await expect
            .poll(background)
            .toBe(colorScheme === 'light' ? 'rgb(255, 251, 230)' : 'rgb(32, 16, 48)');
          expect(await page.locator('.brand').innerText()).toBe('<i>Acme</i>');
          expect(await problems(page)).toEqual([]);
        },
        { javaScriptEnabled: true, colorScheme },
      );
    }
    await world.admin.updateAppConfig({
      body: { appTheme: null, applyThemeGlobally: false, creatorMode: null },
    });
  });
});
