/** Sessions of people who sign in by browser. The pages use these functions. */
import type { Person } from '../../platform/auth/actor.ts';
import type { Csrf } from '../../platform/auth/csrf.ts';
import type { Database, Queryable, Tx } from '../../platform/db/database.ts';
import { found } from '../../platform/errors.ts';
import { siteOf } from '../../platform/http/attempt-limit.ts';
import { hashSecret } from '../../platform/secrets/random-secrets.ts';
import type { ConsoleCookie } from './console-cookie.ts';
import { findSignedIn, type SignedInPerson } from './credential.store.ts';
import { CONSOLE_SECONDS, type EarlierSession, type Sessions, type SignInIdentity } from './sessions.ts';
import type { SignIn, SignInOrigin } from './sign-in.ts';
import { looksLikeConsoleToken } from './tokens.ts';

/** The headers of the browser. The session that its cookie belongs to ends, because the new cookie replaces it. */
type Cookies = Parameters<ConsoleCookie['read']>[0];

export interface OpenedConsole {
  userId: number;
  sessionId: number;
  /** A value for the header `Set-Cookie`. */
  setCookie: string;
}

export interface Console {
  cookie: ConsoleCookie;
  csrf: Csrf;
  /** Signs in with an email or username. Throws a 401, 429 or 503 like `POST /auth/login`. */
  signIn(name: string, password: string, origin: SignInOrigin, cookies: Cookies): Promise<OpenedConsole>;
  /**
   * Signs in a person who was identified in another way, such as by a provider or a link that they used. Call it in the
   * transaction that locked the user and then checked this: later, it may not be true any more.
   */
  begin(tx: Tx, userId: number, origin: SignInOrigin, cookies: Cookies): Promise<OpenedConsole>;
  /**
   * Makes a change of a person's own that ends all of their sessions. A browser that calls gets a new session, which
   * also ends if the earlier one is to end. Throws a 401, and changes nothing, if the session of the caller has ended
   * by now. Returns the headers to send.
   */
  renew<Result>(
    tx: Tx,
    person: Pick<Person, 'userId' | 'sessionId'>,
    origin: SignInOrigin,
    change: () => Promise<Result>,
  ): Promise<{ headers: { 'set-cookie'?: string }; result: Result }>;
  /** Finds the person who is signed in by this browser. */
  find(db: Queryable, cookies: Cookies): Promise<SignedInPerson | undefined>;
}

export function createConsole({
  db,
  signIn,
  sessions,
  cookie,
  csrf,
}: {
  db: Database;
  signIn: SignIn;
  sessions: Sessions;
  cookie: ConsoleCookie;
  csrf: Csrf;
}): Console {
  const hashIn = (cookies: Cookies) => {
    const token = cookie.read(cookies) ?? '';
    return looksLikeConsoleToken(token) ? hashSecret(token) : undefined;
  };

  async function begin(tx: Tx, who: SignInIdentity, origin: SignInOrigin, earlier: EarlierSession) {
    const begun = await sessions.beginConsole(tx, who, origin, earlier);
    const { sessionId, token } = found(begun, 'sign_in_failed');
    return { userId: who.userId, sessionId, setCookie: cookie.set(token, CONSOLE_SECONDS) };
  }
  return {
    cookie,
    csrf,
    async signIn(name, password, origin, cookies) {
      const proven = await signIn.prove(name, password, origin);
      return db
        .as(siteOf(origin.ip))
        .transaction((tx) => begin(tx, proven, origin, { tokenHash: hashIn(cookies) }));
    },
    begin: (tx, userId, origin, cookies) => begin(tx, { userId }, origin, { tokenHash: hashIn(cookies) }),
    async renew(tx, { userId, sessionId }, origin, change) {
      const open = sessionId === null ? null : await sessions.requireOpen(tx, { userId, sessionId });
      const result = await change();
      if (!open?.isOfBrowser) return { headers: {}, result };
      const { setCookie } = await begin(tx, { userId }, origin, { replaces: open.replaces });
      return { headers: { 'set-cookie': setCookie }, result };
    },
    async find(db, cookies) {
      const hash = hashIn(cookies);
      return hash && findSignedIn(db, hash);
    },
  };
}
