import { type Mutant, SERVER, TEST } from './mutant.ts';

export const auth: Mutant[] = [
  {
    name: 'an operation needs its permission',
    file: `${SERVER}platform/auth/access.ts`,
    from: 'if (!mayIn(actor, deploymentId, op.permission)) throw withoutAction(op.permission);',
    to: '',
    tests: [`${TEST}permissions.test.ts`],
  },
  {
    name: 'an account-wide operation needs its permission',
    file: `${SERVER}platform/auth/access.ts`,
    from: "if (op.permission !== 'none' && !may(actor, op.permission) && !readsSome)",
    to: 'if (false as boolean)',
    tests: [`${TEST}permissions.test.ts`],
  },
  {
    name: 'a handler gets only callers of its type',
    file: `${SERVER}platform/auth/access.ts`,
    from: 'if (!isCallerFor(op.auth, actor))',
    to: 'if (false as boolean)',
    tests: [`${SERVER}platform/auth/access.test.ts`],
  },
  {
    name: 'an operation takes only its own kinds of credentials',
    file: `${SERVER}platform/auth/authenticate.ts`,
    from: 'kindOf(taken, given)',
    to: 'kindOf(kinds, given)',
    tests: [`${SERVER}platform/auth/credentials.test.ts`],
  },
  {
    name: 'two kinds of credentials do not take the same one',
    file: `${SERVER}platform/auth/credentials.ts`,
    from: 'if (takers.length === 1 && takers[0] === kind) continue;',
    to: 'if (takers) continue;',
    tests: [`${SERVER}platform/auth/credentials.test.ts`],
  },
  {
    name: 'a cookie does not count beside an Authorization header',
    file: `${SERVER}platform/auth/credentials.ts`,
    from: 'scheme === undefined ? kind.schemes.length === 0 : kind.schemes.includes(scheme)',
    to: 'kind.schemes.length === 0 || kind.schemes.includes(scheme!)',
    tests: [`${SERVER}platform/auth/credentials.test.ts`],
  },
  {
    name: 'a 401 names the schemes that the operation accepts',
    file: `${SERVER}platform/auth/authenticate.ts`,
    from: '(byAuth.get(auth) ?? kinds).filter',
    to: 'kinds.filter',
    tests: [`${SERVER}platform/auth/credential-hints.test.ts`],
  },
  {
    name: 'a 401 names the embed token only where it is accepted',
    file: `${SERVER}platform/auth/authenticate.ts`,
    from: "embed || auth === 'embed' || !kind.auths.includes('embed')",
    to: 'embed || auth || kind',
    tests: [`${SERVER}platform/auth/credential-hints.test.ts`],
  },
  {
    name: 'a known API key is answered at once',
    file: `${SERVER}platform/auth/stored-credentials.ts`,
    from: 'return known ? noting(known.actor) : lookUp(secretHash, cacheKey, address);',
    to: 'return known ? Promise.resolve(noting(known.actor)) : lookUp(secretHash, cacheKey, address);',
    tests: [`${SERVER}domains/api-keys/credential.test.ts`],
  },
  {
    name: 'a cookie changes nothing for a page of another site',
    file: `${SERVER}platform/auth/csrf.ts`,
    from: 'if (origin === ours.origin ||',
    to: 'if (origin !== ours.origin || origin === ours.origin ||',
    tests: [`${SERVER}domains/sessions/console.test.ts`],
  },
];
