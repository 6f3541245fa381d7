import { type Mutant, SERVER } from './mutant.ts';

export const outbound: Mutant[] = [
  {
    name: 'an outgoing request does not reach a private address that a name resolves to',
    file: `${SERVER}platform/outbound/exchange.ts`,
    from: "if (!addresses.every((address) => isAllowed(address))) return callback(refused(), '', 0);",
    to: '',
    tests: [`${SERVER}platform/outbound/outbound.test.ts`],
  },
  {
    name: 'an outgoing request does not reach a private address that is written as numbers',
    file: `${SERVER}platform/outbound/exchange.ts`,
    from: 'if (isIP(host) && !isAllowed(host)) throw notPublic(url);',
    to: '',
    tests: [`${SERVER}platform/outbound/outbound.test.ts`],
  },
  {
    name: 'the size of an answer is limited after it is decompressed',
    file: `${SERVER}platform/outbound/exchange.ts`,
    from: 'if (size > maxBytes) throw tooLarge();',
    to: '',
    tests: [`${SERVER}platform/outbound/outbound.test.ts`],
  },
  {
    name: 'a redirect does not carry credentials to another server',
    file: `${SERVER}platform/outbound/outbound.ts`,
    from: 'if (!isSameOrigin) for (const name of CREDENTIALS) kept.delete(name);',
    to: '',
    tests: [`${SERVER}platform/outbound/outbound.test.ts`],
  },
];
