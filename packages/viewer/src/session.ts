/** The life of the session: exchange, renewal, and its end. */

import type { Host } from '@oriel/charts/frame';
import type { Api } from './api.ts';
import type { Person, Viewer } from './types.ts';

const ASK_BEFORE_MS = 5 * 60_000;
const RECONNECT_MS = [500, 1000, 2000, 5000, 10_000, 30_000];
/** Timers of browsers cannot wait longer. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export interface Session {
  /**
   * Exchanges a session, and returns the viewer that it belongs to, or undefined if a session that was given later has begun
   * already. If this fails, the session before goes on.
   */
  begin(sessionId: string): Promise<Viewer | undefined>;
  /**
   * Returns the signed-in person, for a page without a session; undefined if there is none, or if a session was given
   * meanwhile.
   */
  beginPrivate(): Promise<Viewer | undefined>;
  /** Whether this page may ask for rows again. Ends it if the person has signed out, or another one has signed in. */
  confirm(): Promise<boolean>;
  end(reason: string): void;
}

export const isSameViewer = (one: Viewer, other: Viewer) =>
  one.user.id === other.user.id &&
  one.deploymentId === other.deploymentId &&
  one.embedTenantName === other.embedTenantName;

export function createSession(api: Api, host: Host, onEnd: () => void): Session {
  let stop = () => {};
  let confirm = async () => true;
  let given = 0;
  let begun = 0;

  function end(reason: string) {
    if (!api.hasToken) return;
    stop();
    api.forget();
    onEnd();
    host.send('session-expired', { reason });
  }

  /** Watches until the token is replaced or ends. */
  function follow({ expiresAt, lifeMs }: Viewer) {
    stop();
    confirm = async () => true;
    const left = new AbortController();
    const timers = [
      setTimeout(
        () => host.send('session-needed', { expiresAt }),
        Math.min(Math.max(0, lifeMs - ASK_BEFORE_MS), TIMER_MAX_MS),
      ),
      setTimeout(() => end('expired'), Math.min(Math.max(0, lifeMs), TIMER_MAX_MS)),
    ];
    stop = () => {
      left.abort();
      for (const timer of timers) clearTimeout(timer);
    };
    void listen(left.signal);
  }

  /** The person may sign out, or another one sign in, in another tab: this page is hidden meanwhile. */
  function followPerson({ id }: Person) {
    stop();
    const left = new AbortController();
    const { signal } = left;
    confirm = async () => {
      const person = await api.person();
      if (!signal.aborted && person?.id !== id) end('revoked');
      return !signal.aborted;
    };
    const check = async () => document.hidden || (await confirm());
    document.addEventListener('visibilitychange', () => void check().catch(() => {}), { signal });
    stop = () => left.abort();
  }

  async function listen(signal: AbortSignal) {
    for (let failures = 0; !signal.aborted; failures++) {
      const begunAt = Date.now();
      try {
        const reason = await api.watch(signal);
        if (!signal.aborted) end(reason);
        return;
      } catch {
        if (Date.now() - begunAt > 60_000) failures = 0;
      }
      const wait = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)];
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  return {
    async begin(sessionId) {
      const turn = ++given;
      const token = await api.exchange(sessionId);
      const viewer = await api.viewer(token);
      if (turn < begun) return undefined;
      begun = turn;
      api.use(token);
      follow(viewer);
      return viewer;
    },
    async beginPrivate() {
      const person = await api.person();
      if (!person || given > 0) return undefined;
      api.usePerson();
      followPerson(person);
      const { id, username, email, firstName = null, picture = null } = person;
      return {
        deploymentId: null,
        embedTenantName: null,
        user: { id, username, email, displayName: firstName, picture },
        settings: { showDashboardChat: false },
        embedTheme: null,
        expiresAt: '',
        lifeMs: Number.POSITIVE_INFINITY,
      };
    },
    confirm: () => confirm(),
    end,
  };
}
