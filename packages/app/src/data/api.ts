/** The typed client of the API. Pages import `api`; `connect` is called once, before the first page is shown. */
import { createOrielClient, type OrielClient } from '@oriel/client';

/** How requests prove who sends them. */
export interface Access {
  headers(): Record<string, string>;
  fetch: typeof fetch;
}

export let api: OrielClient;

/** What is sent while the page is left, such as deletions that waited for their way back to end, must outlive the page. */
let isLeaving = false;

export function connect({ headers, fetch }: Access) {
  addEventListener('pagehide', () => {
    isLeaving = true;
  });
  addEventListener('pageshow', () => {
    isLeaving = false;
  });
  api = createOrielClient({
    baseUrl: location.origin,
    getHeaders: headers,
    fetch: (address, init) => fetch(address, isLeaving ? { ...init, keepalive: true } : init),
  });
}
