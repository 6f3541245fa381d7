/** Requests to the server that this page came from. The token is in the memory of this module only. */
import {
  type AccountConfig,
  type Dashboard,
  Problem,
  type Query,
  type QueryApi,
  type Result,
} from '@oriel/charts';
import type { Person, Viewer } from './types.ts';

/** A schedule by which the dashboard is mailed. */
export interface Schedule {
  id: number;
  name: string;
  humanReadableSchedule: string;
  isSubscribed: boolean;
  allowSubscribe: boolean;
}

const RETRIES = 5;

/** Stands for a token where the cookie of a signed-in person is used, which the browser hides from scripts. */
const COOKIE = 'cookie';

export interface Api extends QueryApi {
  /** Returns a token, which is not used until `use` is called with it. */
  exchange(sessionId: string): Promise<string>;
  use(token: string): void;
  /** The person who is signed in with this browser, if there is one. */
  person(): Promise<Person | undefined>;
  /** From now on, requests are those of this person. */
  usePerson(): void;
  forget(): void;
  readonly hasToken: boolean;
  dashboard(publicId: string): Promise<Dashboard>;
  /** Returns the viewer of a token before the token is used. */
  viewer(token: string): Promise<Viewer>;
  accountConfig(): Promise<AccountConfig>;
  /** The whole dashboard as a file, made by the server. */
  exported(dashboard: Dashboard, choices: Record<string, string>): Promise<Blob>;
  /**
   * The schedules that the viewer may subscribe to or has subscribed to. None for signed-in people, because the server
   * does not accept their cookie for changes.
   */
  schedules(dashboard: Dashboard): Promise<Schedule[]>;
  subscribe(deploymentId: number, id: number, isOn: boolean): Promise<void>;
  /** Resolves with the reason if the session ends. Rejects if the stream breaks. */
  watch(signal: AbortSignal): Promise<string>;
}

/** Of an address with queries. The server takes 16 KB with all headers. */
const ADDRESS_MAX = 14_000;

/** The server takes the cookie for requests that change nothing. */
const inAddress = (list: Query[], fresh: boolean) =>
  new URLSearchParams({
    query: JSON.stringify(list),
    queryType: 'multi',
    ...(fresh ? { cache: 'no-cache' } : {}),
  });

export function createApi(onEnded: () => void): Api {
  let token: string | null = null;

  async function call(path: string, init: RequestInit = {}, sent = token): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      const headers: Record<string, string> = init.body ? { 'content-type': 'application/json' } : {};
      if (sent && sent !== COOKIE) headers.authorization = `Bearer ${sent}`;
      const credentials = sent === COOKIE ? 'same-origin' : 'omit';
      let response: Response;
      try {
        response = await fetch(path, { ...init, headers, credentials, cache: 'no-store' });
      } catch (error) {
        if (init.signal?.aborted) throw error;
        throw new Problem(0, 'offline', 'The server cannot be reached.');
      }
      if (response.ok) return response;
      if ((response.status === 429 || response.status === 503) && attempt < RETRIES) {
        const seconds = Number(response.headers.get('retry-after')) || 1;
        await new Promise((resolve) => setTimeout(resolve, Math.min(seconds, 10) * 1000));
        continue;
      }
      const { code = 'error', message, error } = await response.json().catch(() => ({}));
      // A token that was replaced meanwhile says nothing about the new one.
      if (response.status === 401 && sent && sent === token) onEnded();
      throw new Problem(response.status, String(code), String(message ?? error ?? response.statusText));
    }
  }

  const get = async (path: string) => (await call(path)).json();

  /** Queries that are too long for one address are asked one by one. */
  async function loadByAddress(path: string, list: Query[], fresh: boolean): Promise<Result[]> {
    const address = `${path}?${inAddress(list, fresh)}`;
    if (address.length <= ADDRESS_MAX) return (await get(address)).results;
    if (list.length === 1)
      throw new Problem(431, 'query_too_long', 'The query is too long for a page without an embed session.');
    return (await Promise.all(list.map((query) => loadByAddress(path, [query], fresh)))).flat();
  }
  const queries = (deploymentId: number) => `/query/api/v1/deployments/${deploymentId}`;

  return {
    async exchange(sessionId) {
      const body = JSON.stringify({ sessionId });
      const response = await call('/api/v1/embed/session/token', { method: 'POST', body }, null);
      return (await response.json()).token;
    },
    use(given) {
      token = given;
    },
    async person() {
      try {
        return await (await call('/api/v1/users/me', {}, COOKIE)).json();
      } catch (error) {
        if (error instanceof Problem && error.status === 401) return undefined;
        throw error;
      }
    },
    usePerson() {
      token = COOKIE;
    },
    forget() {
      token = null;
    },
    get hasToken() {
      return token !== null;
    },
    dashboard: (publicId) => get(`/api/v1/embed/dashboard/${encodeURIComponent(publicId)}`),
    async viewer(given) {
      const response = await call('/api/v1/embed/session', {}, given);
      const viewer = await response.json();
      const now = Date.parse(response.headers.get('date') ?? '') || Date.now();
      return { ...viewer, lifeMs: Date.parse(viewer.expiresAt) - now };
    },
    accountConfig: () => get('/api/v1/app-config'),
    async exported({ deploymentId, workbookId }, choices) {
      const path = `/api/v1/deployments/${deploymentId}/workbooks/${workbookId}/dashboard/export`;
      return (await call(`${path}?${new URLSearchParams(choices)}`)).blob();
    },
    async schedules({ deploymentId, publicId }) {
      if (token === COOKIE) return [];
      const query = new URLSearchParams({ dashboardPublicId: publicId });
      const { items } = await get(`/api/v1/deployments/${deploymentId}/notifications?${query}`);
      return (items as Schedule[]).filter(
        ({ allowSubscribe, isSubscribed }) => allowSubscribe || isSubscribed,
      );
    },
    async subscribe(deploymentId, id, isOn) {
      const path = `/api/v1/deployments/${deploymentId}/notifications/${id}`;
      await call(`${path}/${isOn ? 'subscribe' : 'unsubscribe'}`, { method: 'POST' });
    },
    async load(deploymentId, list, fresh) {
      const body = JSON.stringify({
        query: list,
        queryType: 'multi',
        ...(fresh ? { cache: 'no-cache' } : {}),
      });
      const path = `${queries(deploymentId)}/load`;
      if (token === COOKIE) return loadByAddress(path, list, fresh);
      return (await (await call(path, { method: 'POST', body })).json()).results;
    },
    meta: (deploymentId) => get(`${queries(deploymentId)}/meta`),
    async watch(signal) {
      const { body } = await call('/api/v1/embed/session/events', { signal });
      const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ''; ; ) {
        const { value, done } = await reader.read();
        if (done) throw new Problem(0, 'offline', 'The stream has ended.');
        text = (text + value).slice(-4096);
        const ended = /^event: ended\ndata: (.+)\n\n/m.exec(text);
        if (ended) return String(JSON.parse(ended[1]!).reason);
      }
    },
  };
}
