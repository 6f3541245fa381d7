import { type Mutant, SERVER } from './mutant.ts';

export const pages: Mutant[] = [
  {
    name: 'after signing in, nobody is sent to another site by a path',
    file: `${SERVER}domains/pages/own-address.ts`,
    from: " && !pathname.startsWith('//')",
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
];
