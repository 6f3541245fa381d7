import { type Mutant, SERVER } from './mutant.ts';

export const signIn: Mutant[] = [
  {
    name: 'a refresh token that is used again ends its session',
    file: `${SERVER}domains/sessions/sessions.ts`,
    from: 'const ended = await store.deleteSession(tx, session.userId, sessionId);',
    to: 'const ended = undefined;',
    tests: [`${SERVER}domains/sessions/refresh.test.ts`],
  },
  {
    name: 'a new password or a deactivation ends the sessions of the user',
    file: `${SERVER}domains/sessions/functions.sql`,
    from: 'delete from sessions where user_id = new.id;',
    to: '',
    tests: [`${SERVER}domains/sessions/sessions.test.ts`],
  },
  {
    name: 'every server forgets a session that ended',
    file: `${SERVER}domains/sessions/functions.sql`,
    from: "notify_credentials('session:', 'session_id')",
    to: "notify_credentials('other:', 'session_id')",
    tests: [`${SERVER}domains/sessions/sessions.test.ts`],
  },
  {
    name: 'no session begins with a password that was changed in the meantime',
    file: `${SERVER}domains/sessions/sessions.ts`,
    from: 'noteSignIn(tx, userId, passwordHash ?? null)',
    to: 'noteSignIn(tx, userId, null)',
    tests: [`${SERVER}domains/sessions/console.test.ts`],
  },
  {
    name: 'a cookie changes nothing over the API without the token of a page',
    file: `${SERVER}domains/sessions/credential.ts`,
    from: 'csrf.requireToken(actor.sessionId, headers[CSRF_HEADER]);',
    to: '',
    tests: [`${SERVER}domains/sessions/console.test.ts`],
  },
  {
    name: 'wrong passwords for a user are limited by address',
    file: `${SERVER}domains/sessions/guesses.ts`,
    from: 'ofPair.begin(',
    to: '((_: string) => () => {})(',
    tests: [`${SERVER}domains/sessions/guesses.test.ts`],
  },
  {
    name: 'the code of a device is answered once',
    file: `${SERVER}domains/device-codes/store.ts`,
    from: 'const WAITING = sql`answered_at is null and expires_at > now()`;',
    to: 'const WAITING = sql`expires_at > now()`;',
    tests: [`${SERVER}domains/device-codes/device-codes.test.ts`],
  },
  {
    name: 'a link sets a password once',
    file: `${SERVER}domains/password-links/password-links.ts`,
    from: 'if (!(await store.deleteLink(tx, userId, secretHash))) return false;',
    to: '',
    tests: [`${SERVER}domains/password-links/password-links.test.ts`],
  },
  {
    name: 'the first signing key is made when it is needed',
    file: `${SERVER}domains/signing-keys/signing-keys.ts`,
    from: 'if (rows.length) return rows;',
    to: 'if (rows) return rows;',
    tests: [`${SERVER}domains/signing-keys/signing-keys.test.ts`],
  },
];
