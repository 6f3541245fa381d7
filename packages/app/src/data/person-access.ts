/** Requests of a person who is signed in: the browser sends the cookie, and changes need the token of the page. */
import { signal } from '@preact/signals';
import type { Access } from './api.ts';

/** The session has ended. The app stays as it is, and asks the person to sign in again. */
export const isSignedOut = signal(false);

const tokenIn = (page: ParentNode) =>
  page.querySelector('meta[name="csrf-token"]')?.getAttribute('content') ?? '';

let token = tokenIn(document);

/** The token of whoever is signed in now. Returns whether it is another one than before. */
async function renewToken(): Promise<boolean> {
  const response = await fetch('/', { headers: { accept: 'text/html' }, cache: 'no-store' });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const before = token;
  token = tokenIn(page) || token;
  return token !== before;
}

/** For a form of the page, such as the one that signs out. */
export const formToken = () => token;

/** The person says that they have signed in again, in another tab. */
export async function resume(): Promise<boolean> {
  await renewToken();
  const { status } = await fetch('/api/v1/users/me', { cache: 'no-store' });
  isSignedOut.value = status === 401;
  return !isSignedOut.value;
}

export const personAccess: Access = {
  headers: () => ({ 'x-csrf-token': token }),
  async fetch(address, init = {}) {
    const send = () =>
      fetch(address, { ...init, headers: { ...init.headers, 'x-csrf-token': token }, cache: 'no-store' });
    const response = await send();
    if (response.status === 401) isSignedOut.value = true;
    // Whoever signed in again in another tab has a new session, which the token of this page does not belong to.
    if (response.status === 403 && init.method !== 'GET' && (await renewToken())) return send();
    return response;
  },
};
