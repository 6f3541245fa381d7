/** Requests of a person who is signed in: the browser sends the cookie, and changes need the token of the page. */
import { signal } from '@preact/signals';
import type { Access } from './api.ts';

/** Whether the session has ended. The app stays as it is, and asks the person to sign in again. */
export const isSignedOut = signal(false);

/**
 * Whether another person has signed in in this browser. The page then sends no more requests, which would be in their
 * name. Requests that it sent before could read as that person, but change nothing: their token is that of another
 * session.
 */
export const isSomebodyElse = signal(false);

const contentIn = (page: ParentNode, name: string) =>
  page.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? '';

let token = contentIn(document, 'csrf-token');

/** The id of the person whom this page was made for; empty in a frame of another product. */
export const person = contentIn(document, 'person');

/** Asks the server who is signed in, and takes their newest token if they are still the person of this page. */
async function renewToken(): Promise<void> {
  const response = await fetch('/', { headers: { accept: 'text/html' }, cache: 'no-store' });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const now = contentIn(page, 'person');
  if (now && now !== person) isSomebodyElse.value = true;
  if (now === person) token = contentIn(page, 'csrf-token') || token;
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

/**
 * Checks the person whenever this tab gets the focus: they may have signed in as another person in another tab or
 * window.
 */
export function watchPerson() {
  let isLooking = false;
  const look = async () => {
    if (isLooking || document.visibilityState !== 'visible') return;
    isLooking = true;
    await renewToken().catch(() => {});
    isLooking = false;
  };
  document.addEventListener('visibilitychange', look);
  addEventListener('focus', look);
}

export const personAccess: Access = {
  headers: () => ({ 'x-csrf-token': token }),
  async fetch(address, init = {}) {
    if (isSomebodyElse.peek()) throw new DOMException('Somebody else is signed in.', 'AbortError');
    const send = () =>
      fetch(address, { ...init, headers: { ...init.headers, 'x-csrf-token': token }, cache: 'no-store' });
    const sent = token;
    const response = await send();
    if (response.status === 401) isSignedOut.value = true;
    if (response.status !== 403 || init.method === 'GET') return response;
    // A person who signed in again in another tab has a new session, and the token of this page belongs to the old one.
    // Another request may have renewed it meanwhile.
    await renewToken();
    return token !== sent && !isSomebodyElse.peek() ? send() : response;
  },
};
