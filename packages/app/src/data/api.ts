/** The typed client of the API. Pages import `api`; `connect` is called once, before the first page is shown. */
import { createOrielClient, type OrielClient } from '@oriel/client';

/** How requests prove who sends them. */
export interface Access {
  headers(): Record<string, string>;
  fetch: typeof fetch;
}

export let api: OrielClient;

export function connect({ headers, fetch }: Access) {
  api = createOrielClient({ baseUrl: location.origin, getHeaders: headers, fetch });
}
