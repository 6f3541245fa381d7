/**
 * The app in a frame of another product: it exchanges the session that its host gives it, keeps the token in the memory of
 * this module only, asks for the next session in time, and blanks itself when the session has ended.
 */
import { connectHost, findOrigin, type Host, knownZone, warnOf } from '@oriel/charts/frame';
import { createOrielClient } from '@oriel/client';
import { signal } from '@preact/signals';
import { type Access, api, connect } from '../data/api.ts';
import { invalidate } from '../data/cache.ts';
import { problemOf } from '../data/problem.ts';
import { isScheme, knownLocale, themeOptionsOf } from '../design.ts';
import { scheme, themeOverrides } from '../look.ts';
import { deploymentIn } from '../place.ts';
import { useLocale } from '../texts/index.ts';

export type Viewer = Awaited<ReturnType<typeof api.getEmbedSession>>;
type AppConfig = Awaited<ReturnType<typeof api.getAppConfig>>;

export type Phase = 'starting' | 'waiting' | 'ready' | 'ended' | 'refused' | 'failed';

export const phase = signal<Phase>('starting');
export const viewer = signal<Viewer | undefined>(undefined);
export const appConfig = signal<AppConfig | undefined>(undefined);
/** The zone that the host asked for; undefined for that of the browser. */
export const timeZone = signal<string | undefined>(undefined);

const PATIENCE_MS = 10_000;
const ASK_BEFORE_MS = 5 * 60_000;
const RECONNECT_MS = [500, 1000, 2000, 5000, 10_000, 30_000];
/** Timers of browsers cannot wait longer. */
const TIMER_MAX_MS = 2 ** 31 - 1;

let token: string | undefined;
let host: Host;
let navigateTo: (path: string) => void = () => {};
let stop = () => {};
let given = 0;
let begun = 0;
let isReady = false;

const accessWith = (tokenOf: () => string | undefined): Access => ({
  headers: (): Record<string, string> => {
    const sent = tokenOf();
    return sent ? { authorization: `Bearer ${sent}` } : {};
  },
  async fetch(address, init) {
    const sent = token;
    const response = await fetch(address, { ...init, credentials: 'omit', cache: 'no-store' });
    // Ignore the refusal of a token that was replaced meanwhile. A timer ends the session when its token expires, so a
    // token that is refused earlier was revoked.
    if (response.status === 401 && sent !== undefined && sent === token) end('revoked');
    return response;
  },
});

/** Sets the function that takes the router of the app to another address. */
export const onNavigate = (navigate: (path: string) => void) => {
  navigateTo = navigate;
};

let shownPath: string | undefined;
export function tellPath(path: string, title: string) {
  if (phase.peek() !== 'ready' || path === shownPath) return;
  if (shownPath !== undefined) host.send('navigate', { path, previousPath: shownPath });
  shownPath = path;
  host.send('view', { surface: 'app', path, title });
}

export async function startCreator() {
  const address = new URL(location.href);
  const fragment = new URLSearchParams(location.hash.slice(1));
  const session = address.searchParams.get('session') ?? fragment.get('session');
  const chosen = (name: string) => address.searchParams.get(name);
  // The session leaves the address bar at once, and with it the history.
  address.searchParams.delete('session');
  address.hash = '';
  history.replaceState(null, '', address.pathname + address.search);
  connect(accessWith(() => token));
  const theme = chosen('theme');
  if (isScheme(theme)) scheme.value = theme;
  timeZone.value = knownZone(chosen('timezone'));
  host = connectHost('app', {
    session: ({ sessionId }) => void take(String(sessionId)),
    renew: ({ sessionId }) => void take(String(sessionId)),
    refresh: () => invalidate(''),
    navigate: ({ path }) => {
      // Only addresses of the app in this frame, in the same deployment.
      const wanted = String(path);
      const isOurs =
        deploymentIn(wanted) !== undefined && deploymentIn(wanted) === deploymentIn(location.pathname);
      warnOf('path', path, isOurs);
      if (isOurs) navigateTo(wanted);
    },
    'set-locale': ({ locale }) => {
      warnOf('locale', locale, knownLocale(locale));
      if (knownLocale(locale)) void useLocale(locale);
    },
    'set-timezone': ({ timezone }) => {
      warnOf('timezone', timezone, knownZone(timezone));
      timeZone.value = knownZone(timezone) ?? timeZone.peek();
    },
    'set-color-scheme': (payload) => {
      warnOf('scheme', payload.scheme, isScheme(payload.scheme));
      if (isScheme(payload.scheme)) scheme.value = payload.scheme;
    },
    'set-theme': (theme) => {
      hostTheme.value = themeOptionsOf(theme);
      paint();
    },
  });
  await useLocale(chosen('locale'), ...navigator.languages);
  if (session) return take(session);
  ask();
  return undefined;
}

const hostTheme = signal<ReturnType<typeof themeOptionsOf>>({});

/** The account's colours, over them those of the session, over them those of the host. */
function paint() {
  const account = appConfig.peek()?.appTheme;
  themeOverrides.value = (chosen) => [
    themeOptionsOf({
      primaryColor: account?.[chosen].accentColor,
      backgroundColor: account?.[chosen].backgroundColor,
    }),
    themeOptionsOf(viewer.peek()?.embedTheme),
    hostTheme.peek(),
  ];
}

function ask() {
  host.send('session-needed', {});
  const wait = findOrigin() === null ? 0 : PATIENCE_MS;
  setTimeout(() => {
    if (phase.peek() === 'starting') phase.value = 'waiting';
  }, wait);
}

async function take(sessionId: string) {
  const turn = ++given;
  try {
    const plain = createOrielClient({ baseUrl: location.origin, fetch: accessWith(() => undefined).fetch });
    const { token: next } = await plain.postTokenBySessionId({ body: { sessionId } });
    const client = createOrielClient({
      baseUrl: location.origin,
      token: next,
      fetch: (address, init) => fetch(address, { ...init, credentials: 'omit', cache: 'no-store' }),
    });
    const [who, config] = await Promise.all([client.getEmbedSession(), client.getAppConfig()]);
    if (turn < begun) return;
    const before = viewer.peek();
    // Another person must not see what the one before has left in the page.
    if (before && before.user.id !== who.user.id) return location.reload();
    if (!who.creatorMode || who.deploymentId !== deploymentIn(location.pathname)) {
      phase.value = 'refused';
      return host.send('error', {
        message: 'The session is not in creator mode, or is of another deployment.',
        code: 'creator_mode_only',
        fatal: true,
      });
    }
    begun = turn;
    token = next;
    viewer.value = who;
    appConfig.value = config;
    paint();
    follow(who);
    phase.value = 'ready';
    invalidate('');
    if (isReady) return;
    isReady = true;
    const { embedTenantName, deploymentId, settings } = who;
    host.send('ready', {
      embedTenant: embedTenantName,
      deploymentId,
      mode: 'signed',
      surface: 'app',
      settings,
    });
  } catch (error) {
    const problem = problemOf(error);
    const isFatal = phase.peek() !== 'ready';
    if (isFatal) phase.value = problem.code === 'invalid_session' ? 'ended' : 'failed';
    host.send('error', { message: problem.message, code: problem.code, context: 'session', fatal: isFatal });
    if (problem.code === 'invalid_session') host.send('session-needed', {});
  }
}

function end(reason: string) {
  if (token === undefined) return;
  stop();
  token = undefined;
  phase.value = 'ended';
  host.send('session-expired', { reason });
}

/** Watches until the token is replaced or ends. */
function follow({ expiresAt }: Viewer) {
  stop();
  const left = new AbortController();
  const lifeMs = Date.parse(expiresAt) - Date.now();
  const within = (ms: number) => Math.min(Math.max(0, ms), TIMER_MAX_MS);
  const timers = [
    setTimeout(() => host.send('session-needed', { expiresAt }), within(lifeMs - ASK_BEFORE_MS)),
    setTimeout(() => end('expired'), within(lifeMs)),
  ];
  stop = () => {
    left.abort();
    for (const timer of timers) clearTimeout(timer);
  };
  void listen(left.signal);
}

async function listen(signal: AbortSignal) {
  for (let failures = 0; !signal.aborted; failures++) {
    const begunAt = Date.now();
    try {
      for await (const { data } of await api.watchEmbedSession({}, { signal })) {
        if (!signal.aborted) end(data.reason);
        return;
      }
    } catch {
      if (Date.now() - begunAt > 60_000) failures = 0;
    }
    const wait = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)];
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
