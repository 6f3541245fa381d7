import { type Mutant, SERVER } from './mutant.ts';

export const pages: Mutant[] = [
  {
    name: 'after signing in, nobody is sent to another site by a path',
    file: `${SERVER}domains/pages/own-address.ts`,
    from: " || pathname.startsWith('//')",
    to: '',
    tests: [`${SERVER}domains/pages/rules.test.ts`],
  },
  {
    name: 'the colours of the account can be read',
    file: `${SERVER}domains/pages/palette.ts`,
    from: 'if (wcagContrast(candidate, background) >= contrast) return candidate;',
    to: 'return candidate;',
    tests: [`${SERVER}domains/pages/rules.test.ts`],
  },
  {
    name: 'a password that is repeated wrongly is not set',
    file: `${SERVER}domains/pages/link-routes.ts`,
    from: 'requireUsable(typed);',
    to: '',
    tests: [`${SERVER}domains/pages/pages.test.ts`],
  },
  {
    name: 'the address of a logo does not change the policy of the pages',
    file: `${SERVER}domains/pages/theme.ts`,
    from: "return ORIGIN.test(origin) ? href : '';",
    to: 'return origin && href;',
    tests: [`${SERVER}domains/pages/rules.test.ts`],
  },
  {
    name: 'no session begins after the transaction that used a link',
    file: `${SERVER}domains/pages/link-routes.ts`,
    from: 'return store().catch(refuseLink(kind, link))',
    to: 'return store().then(async (done) => { await db.transaction((tx) => console.begin(tx, person.userId, origin, {})); return done; }).catch(refuseLink(kind, link))',
    tests: [`${SERVER}domains/pages/new-sessions.test.ts`],
  },
  {
    name: 'no session begins after the transaction that changed the own password',
    file: `${SERVER}domains/pages/account-routes.ts`,
    from: 'return store().catch(',
    to: 'return store().then(async (done) => { await db.transaction((tx) => console.begin(tx, actor.userId, origin, {})); return done; }).catch(',
    tests: [`${SERVER}domains/pages/new-sessions.test.ts`],
  },
  {
    name: 'a session ends when another one takes its place in the browser',
    file: `${SERVER}domains/sessions/console.ts`,
    from: '(tx) => begin(tx, proven, origin, { tokenHash: hashIn(cookies) })',
    to: '(tx) => begin(tx, proven, origin, {})',
    tests: [`${SERVER}domains/pages/new-sessions.test.ts`],
  },
  {
    name: 'a link says that another person is signed in',
    file: `${SERVER}domains/pages/link-routes.ts`,
    from: 'return current?.userId === userId ? undefined : current?.email;',
    to: 'return current && undefined;',
    tests: [`${SERVER}domains/pages/new-sessions.test.ts`],
  },
  {
    name: 'whoever is signed in does not see the form to sign in',
    file: `${SERVER}domains/pages/routes.ts`,
    from: 'if (await console.find(db, headers)) return',
    to: 'if ((await console.find(db, headers)) && false) return',
    tests: [`${SERVER}domains/pages/pages.test.ts`],
  },
];
