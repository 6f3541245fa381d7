import { type Mutant, SERVER, TEST } from './mutant.ts';

export const project: Mutant[] = [
  {
    name: 'no operation is opened to embed tokens by what entries share',
    file: 'packages/contract/src/operations/user-groups.ts',
    from: "tag: 'User Groups', auth: 'management'",
    to: "tag: 'User Groups', embed: 'creator', auth: 'management'",
    tests: [`${TEST}embed-entries.test.ts`],
  },
  {
    name: 'a run of tests that hangs leaves nothing behind',
    file: 'scripts/run-within.ts',
    from: 'if (parent === pid) tree.push(child);',
    to: '{}',
    tests: [`${TEST}run-within.system.ts`],
  },
  {
    name: 'a command that gets a signal stops the database that it started',
    file: `${SERVER}main.ts`,
    from: "  process.on('SIGTERM', () => end('SIGTERM', 143));\n",
    to: '',
    tests: ['acceptance/admin-key.system.ts'],
  },
  {
    name: 'a random test counts its runs',
    file: `${TEST}random-runs.ts`,
    from: 'numRuns: runs }',
    to: 'numRuns: 0 }',
    tests: [`${SERVER}domains/embed-sessions/atomicity.test.ts`],
  },
  {
    name: 'the published types say what may be null',
    file: 'scripts/packages/schema-types.ts',
    from: "null: 'null',",
    to: "null: 'undefined',",
    tests: ['acceptance/packages.system.ts'],
  },
  {
    name: 'a bundler does not leave out the element',
    file: 'scripts/packages/sdk.ts',
    from: "sideEffects: ['./dist/embed.js']",
    to: 'sideEffects: false',
    tests: ['acceptance/packages.system.ts'],
  },
];
