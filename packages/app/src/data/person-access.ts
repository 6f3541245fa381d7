/** Requests of a person who is signed in: the browser sends the cookie, and changes need the token of the page. */
import { signal } from '@preact/signals';
import type { Access } from './api.ts';

/** The session has ended. The app stays as it is, and asks the person to sign in again. */
export const isSignedOut = signal(false);

/** Another person has signed in in this browser. Nothing is asked or saved any more: it would be in their name. */
export const isSomebodyElse = signal(false);

const contentIn = (page: ParentNode, name: string) =>
  page.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? '';

let token = contentIn(document, 'csrf-token');

/** The id of the person whom this page was made for; empty in a frame of another product. */
export const person = contentIn(document, 'person');

/** Whoever is signed in now. Returns whether they are the same person with another token than before. */
async function renewToken(): Promise<boolean> {
  const response = await fetch('/', { headers: { accept: 'text/html' }, cache: 'no-store' });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const now = contentIn(page, 'person');
  if (now && now !== person) isSomebodyElse.value = true;
  const before = token;
  if (now === person) token = contentIn(page, 'csrf-token') || token;
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

/** Whoever comes back to this tab may have signed in as somebody else in another one. */
export const watchPerson = () =>
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') renewToken().catch(() => {});
  });

export const personAccess: Access = {
  headers: () => ({ 'x-csrf-token': token }),
  async fetch(address, init = {}) {
    if (isSomebodyElse.peek()) throw new DOMException('Somebody else is signed in.', 'AbortError');
    const send = () =>
      fetch(address, { ...init, headers: { ...init.headers, 'x-csrf-token': token }, cache: 'no-store' });
    const response = await send();
    if (response.status === 401) isSignedOut.value = true;
    // Whoever signed in again in another tab has a new session, which the token of this page does not belong to.
    if (response.status === 403 && init.method !== 'GET' && (await renewToken())) return send();
    return response;
  },
};
