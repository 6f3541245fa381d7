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
