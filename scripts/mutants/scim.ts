import { type Mutant, SERVER } from './mutant.ts';

export const scim: Mutant[] = [
  {
    name: 'a SCIM filter is nested to a limit',
    file: `${SERVER}domains/scim/filter.ts`,
    from: 'const DEPTH_MAX = 20;',
    to: 'const DEPTH_MAX = 20_000;',
    tests: [`${SERVER}domains/scim/filter.test.ts`],
  },
  {
    name: 'not of a SCIM filter finds users without a value',
    file: `${SERVER}domains/scim/filter.store.ts`,
    from: 'return sql`not coalesce(',
    to: 'return sql`not nullif(',
    tests: [`${SERVER}domains/scim/scim.test.ts`],
  },
  {
    name: 'names in a SCIM filter are only our own attributes',
    file: `${SERVER}domains/scim/filter.store.ts`,
    from: 'Object.hasOwn(record, name) ? record[name] : undefined',
    to: 'record[name]',
    tests: [`${SERVER}domains/scim/scim.test.ts`],
  },
  {
    name: 'two SCIM writers with one version',
    file: `${SERVER}domains/scim/user-routes.ts`,
    from: `        etag.require(stateOf(before));
        const fields = fieldsOf(patched(`,
    to: '        const fields = fieldsOf(patched(',
    tests: [`${SERVER}domains/scim/scim.test.ts`],
  },
  {
    name: 'a SCIM remove with a value removes only those members',
    file: `${SERVER}domains/scim/groups.ts`,
    from: 'if (filter === null && value == null) return replaceMembers([]);',
    to: 'if (filter === null) return replaceMembers([]);',
    tests: [`${SERVER}domains/scim/providers.test.ts`],
  },
  {
    name: 'unknown addresses of SCIM have its form of errors',
    file: 'packages/contract/src/error-shapes.ts',
    from: "{ '/api/scim/v2/': 'scim' }",
    to: '{}',
    tests: [`${SERVER}domains/scim/scim.test.ts`],
  },
];
