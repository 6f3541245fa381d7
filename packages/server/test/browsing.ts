/** Sends the requests of a browser without a browser, for tests of single pages. */
import { checkedFetch } from './checked-fetch.ts';
import { createSignable, PASSWORD, type Signable } from './sign-in.ts';
import type { World } from './world.ts';

export interface Browsing {
  /** Follows no redirect. */
  get(path: string): Promise<Response>;
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
  /** What a script would have to send with a request, such as the cookie. */
  headers(): Record<string, string>;
  /** Calls the API as the app does, with the token of its page. */
  call(method: string, path: string, csrf: string, body?: object): Promise<Response>;
  /** The token of the app, or of the forms of another page. */
  csrf(path?: string): Promise<string>;
}

export function browse({ url }: World): Browsing {
  let cookie = '';
  const send = async (path: string, init: RequestInit = {}) => {
    const headers = { accept: 'text/html', origin: url, ...(cookie && { cookie }), ...init.headers };
    const response = await checkedFetch(url + path, { ...init, headers, redirect: 'manual' });
    const set = response.headers.get('set-cookie');
    if (set) cookie = set.split(';', 1)[0]!;
    return response;
  };
  return {
    get: (path) => send(path),
    post: (path, fields, headers = {}) =>
      send(path, {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: { ...FORM, ...headers },
      }),
    call: (method, path, csrf, body) =>
      send(path, {
        method,
        headers: { 'x-csrf-token': csrf, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    headers: () => ({ origin: url, cookie }),
    async csrf(path = '/account') {
      return /name="csrf(?:" value|-token" content)="([^"]+)"/.exec(await (await send(path)).text())![1]!;
    },
  };
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** A new person who has just signed in by browser. */
export async function browsingPerson(world: World): Promise<Browsing & { person: Signable }> {
  const person = await createSignable(world);
  const browsing = browse(world);
  await browsing.post('/sign-in', { username: person.email, password: PASSWORD });
  return { ...browsing, person };
}
