import { type Mutant, SERVER, TEST } from './mutant.ts';

export const domains: Mutant[] = [
  {
    name: 'a report that is being changed is locked',
    file: `${SERVER}domains/reports/reports.ts`,
    from: '  await store.lockReport(tx, id);\n',
    to: '',
    tests: [`${SERVER}domains/workspace/waiting-writers.test.ts`],
  },
  {
    name: 'the reports of a folder are counted in an index alone',
    file: `${SERVER}domains/reports/list.store.ts`,
    from: "isOfTenant('r', embedTenant),",
    to: "inTenant('r', embedTenant),",
    tests: [`${TEST}plans.system.ts`],
  },
  {
    name: 'an embedded user has no rights on the content of another embed tenant',
    file: `${SERVER}domains/access/store.ts`,
    from: '    viewer.embedTenant === null\n      ? sql',
    to: '    viewer.userId > 0\n      ? sql',
    tests: [`${SERVER}domains/access/embed-content.test.ts`],
  },
  {
    name: 'a search in the workspace reads few pages before it uses its index',
    file: `${SERVER}domains/workspace/store.ts`,
    from: 'const STRETCH_PAGES = 24;',
    to: 'const STRETCH_PAGES = 2400;',
    tests: [`${TEST}workspace-plans.system.ts`],
  },
  {
    name: 'a page of a list ends when it holds enough bytes',
    file: `${SERVER}platform/http/pages.ts`,
    from: '    if (bytes >= PAGE_BYTES_MAX) return i + 1;\n',
    to: '',
    tests: [`${SERVER}domains/workspace/large-pages.test.ts`],
  },
  {
    name: 'a row type is what its statement returns',
    file: `${SERVER}domains/roles/store.ts`,
    from: '  isBuiltIn: boolean;',
    to: '  isBuiltIn: string;',
    tests: [`${SERVER}domains/roles/roles.test.ts`],
  },
  {
    name: 'people revoke only their own keys',
    file: `${SERVER}domains/api-keys/store.ts`,
    from: '::bigint is null or user_id = ',
    to: '::bigint is null or 0 <> ',
    tests: [`${SERVER}domains/api-keys/api-keys.test.ts`],
  },
  {
    name: 'a rotation of the secret key that replaces nothing does not report success',
    file: `${SERVER}domains/installation/rotate-secret.ts`,
    from: 'new Set(fingerprints).size === 1',
    to: 'false',
    tests: [`${SERVER}domains/installation/rotate-secret.test.ts`],
  },
];
