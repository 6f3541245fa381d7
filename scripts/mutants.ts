/**
 * Guarantees, each with a change of the code that takes it away. `npm run test:mutants` makes each change in a copy and
 * expects one of the tests to fail. A new guarantee that matters gets a line here.
 */

export interface Mutant {
  /** What no longer holds with the change. */
  name: string;
  file: string;
  /** Stands in the file exactly once. */
  from: string;
  to: string;
  /** Files of which at least one test must fail. */
  tests: string[];
}

const SERVER = 'packages/server/src/';
const TEST = 'packages/server/test/';

export const mutants: Mutant[] = [
  {
    name: 'an operation needs its permission',
    file: `${SERVER}platform/auth/access.ts`,
    from: "if (!mayIn(actor, deploymentId, op.permission)) throw new ApiError('forbidden');",
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
    name: 'an operation takes no kind of credential but its own',
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
    name: 'a known API key is answered at once',
    file: `${SERVER}domains/api-keys/credential.ts`,
    from: 'return known ? noting(known.actor) : lookUp(hash, cacheKey, address);',
    to: 'return known ? Promise.resolve(noting(known.actor)) : lookUp(hash, cacheKey, address);',
    tests: [`${SERVER}domains/api-keys/credential.test.ts`],
  },
  {
    name: 'the first signing key is made when it is needed',
    file: `${SERVER}domains/signing-keys/signing-keys.ts`,
    from: 'if (rows.length) return rows;',
    to: 'if (rows) return rows;',
    tests: [`${SERVER}domains/signing-keys/signing-keys.test.ts`],
  },
  {
    name: 'a cache does not keep what was read before a notification',
    file: `${SERVER}platform/db/notified-cache.ts`,
    from: 'if (listener.hears && before === generation) {',
    to: 'if (listener.hears) {',
    tests: [`${SERVER}platform/db/notified-cache.test.ts`],
  },
  {
    name: 'a report that is being changed is locked',
    file: `${SERVER}domains/reports/reports.ts`,
    from: '  await store.lockReport(tx, id);\n',
    to: '',
    tests: [`${SERVER}domains/workspace/waiting-writers.test.ts`],
  },
  {
    name: 'a deadlock is tried again',
    file: `${SERVER}platform/db/database.ts`,
    from: 'if (tries >= MAX_TRIES || !isRetryable(error)) throw error;',
    to: 'throw error;',
    tests: [`${SERVER}platform/db/database.test.ts`],
  },
  {
    name: 'a random test counts its runs',
    file: `${TEST}random-runs.ts`,
    from: 'numRuns: runs,',
    to: 'numRuns: 0,',
    tests: [`${SERVER}domains/embed-sessions/atomicity.test.ts`],
  },
];
