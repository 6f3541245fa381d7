/** Sessions of people who sign in by browser. The pages use these functions. */
import type { Csrf } from '../../platform/auth/csrf.ts';
import type { Database } from '../../platform/db/database.ts';
import { found } from '../../platform/errors.ts';
import { addressGroup } from '../../platform/http/attempt-limit.ts';
import type { ConsoleCookie } from './console-cookie.ts';
import { CONSOLE_SECONDS, type Sessions } from './sessions.ts';
import type { SignIn, SignInOrigin } from './sign-in.ts';

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
  signIn(name: string, password: string, origin: SignInOrigin): Promise<OpenedConsole>;
  /** For a person who was identified in another way, such as by a provider or a link that they used. */
  open(userId: number, origin: SignInOrigin): Promise<OpenedConsole>;
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
  async function begin(who: { userId: number; passwordHash?: string }, origin: SignInOrigin) {
    const begun = await db
      .as(addressGroup(origin.ip))
      .transaction((tx) => sessions.beginConsole(tx, who, origin));
    const { sessionId, token } = found(begun, 'sign_in_failed');
    return { userId: who.userId, sessionId, setCookie: cookie.set(token, CONSOLE_SECONDS) };
  }
  return {
    cookie,
    csrf,
    signIn: async (name, password, origin) => begin(await signIn.prove(name, password, origin), origin),
    open: (userId, origin) => begin({ userId }, origin),
  };
}
