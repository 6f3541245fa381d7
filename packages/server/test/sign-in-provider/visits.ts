/** People who sign in at one server with the provider. */
import { expect } from 'vitest';
import { unique, type World } from '../world.ts';
import { createBrowser, type TestBrowser } from './browser.ts';
import type { Account, SignInProvider } from './index.ts';

export const newAccount = (more: Partial<Account> = {}) => {
  const sub = unique('subject');
  return { sub, email: `${sub}@example.com`, email_verified: true, name: 'Ada', ...more };
};

/** The cookie between the beginning and the end of a sign-in. */
export const PENDING = 'oriel-sign-in';

export function visitsTo({ url, admin }: World, provider: SignInProvider) {
  const newBrowser = () => createBrowser(provider.issuer);

  /** Begins to sign in, and returns the address that the provider sends the browser back to. */
  async function toCallback({ query = '', browser = newBrowser() } = {}) {
    const { address } = await browser.follow(`${url}/sign-in/provider${query}`, {
      end: `${url}/sign-in/provider/callback`,
      headers: { referer: `${url}/invitation` },
    });
    return { browser, callback: address };
  }

  async function signIn(account: Account, query = '') {
    await provider.expect(account);
    const { browser, callback } = await toCallback({ query });
    return { browser, callback, response: await browser.get(callback) };
  }

  /** Returns the person who is signed in by the browser. */
  async function whoIs(browser: TestBrowser) {
    const response = await browser.get(`${url}/api/v1/users/me`);
    return response.ok ? ((await response.json()) as { id: number; email: string }) : undefined;
  }

  const usersOf = async (email: string) => (await admin.listUsers({ search: email })).items;

  return { newBrowser, toCallback, signIn, whoIs, usersOf };
}

/** Errors are pages for people. The header holds the code. */
export const errorOf = (response: Response): [number, string | null] => {
  expect(response.headers.get('content-type')).toContain('text/html');
  return [response.status, response.headers.get('x-error-code')];
};

/** What the app in the browser sends with a change. */
export async function headersOfApp({ url }: World, browser: TestBrowser) {
  const page = await (await browser.get(`${url}/account`)).text();
  return {
    origin: url,
    cookie: [...browser.cookies(url)].map((pair) => pair.join('=')).join('; '),
    'x-csrf-token': /name="csrf-token" content="([^"]+)"/.exec(page)![1]!,
  };
}

/** Returns the call by which the app takes an identity from its person. */
export async function unlinkInApp(world: World, browser: TestBrowser, identityId: number) {
  const headers = await headersOfApp(world, browser);
  return () => fetch(`${world.url}/api/v1/users/me/identities/${identityId}`, { method: 'DELETE', headers });
}
