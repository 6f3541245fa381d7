import { expirySchedule } from '../../platform/jobs/upkeep.ts';
import type { Module, Platform } from '../../platform/module.ts';
import { type Console, createConsole } from './console.ts';
import { createConsoleCookie } from './console-cookie.ts';
import { createSessionCredentials } from './credential.ts';
import { createGuesses } from './guesses.ts';
import { sessionRoutes } from './routes.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createSignIn, type SignIn } from './sign-in.ts';
import { deleteExpiredSessions, deleteExpiredTokens } from './store.ts';
import { createRefreshTokens } from './tokens.ts';

export type { Console, OpenedConsole } from './console.ts';
export { oauthTokens, tokens } from './replies.ts';
export { type Approver, type IssuedTokens, SESSIONS_MAX, type Sessions, signOut } from './sessions.ts';
export { findCandidate } from './sign-in.store.ts';
export type { SignIn, SignInOrigin } from './sign-in.ts';
export { listSessions, type SessionRow, skipSessionIds } from './store.ts';

export interface PeopleSessions {
  signIn: SignIn;
  sessions: Sessions;
  console: Console;
}

/** What other domains, and the pages, need to sign people in and out. */
export function createPeopleSessions(platform: Platform): PeopleSessions {
  const { essential: db, attempts, csrf, keysFor, publicUrl } = platform;
  const signIn = createSignIn({ db, attempts, guesses: createGuesses() });
  const sessions = createSessions({ db, refreshTokens: createRefreshTokens(keysFor('refresh tokens')) });
  const cookie = createConsoleCookie(publicUrl);
  return { signIn, sessions, console: createConsole({ db, signIn, sessions, cookie, csrf }) };
}

export const sessionUpkeep = expirySchedule('sessions.delete-expired', 13, [
  deleteExpiredTokens,
  deleteExpiredSessions,
]);

export function sessions(platform: Platform, people: PeopleSessions): Module {
  const { cookie, csrf } = people.console;
  const credentials = createSessionCredentials(platform, { cookie, csrf });
  return {
    routes: sessionRoutes(platform, people),
    schedules: [sessionUpkeep],
    credentials: credentials.kinds,
    stop: credentials.stop,
  };
}
