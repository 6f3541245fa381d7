import { type Mutant, SERVER, TEST } from './mutant.ts';

const VIEWER = 'packages/viewer/src/';
const ELEMENT = 'packages/viewer/sdk/embed.ts';
const TESTS = `${SERVER}domains/embedded-pages/`;

export const embeddedPage: Mutant[] = [
  {
    name: 'the embedded page hears its host only',
    file: `${VIEWER}host.ts`,
    from: 'event.origin !== origin || event.source !== window.parent',
    to: 'false',
    tests: [`${TESTS}protocol.test.ts`],
  },
  {
    name: 'the session leaves the address of the embedded page',
    file: `${VIEWER}address.ts`,
    from: "searchParams.delete('session');",
    to: '',
    tests: [`${TESTS}protocol.test.ts`],
  },
  {
    name: 'links of users can not run script',
    file: `${VIEWER}markdown.tsx`,
    from: "['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined",
    to: 'href',
    tests: [`${TESTS}hostile.test.ts`],
  },
  {
    name: 'templates of users hold no element that loads',
    file: `${VIEWER}html.tsx`,
    from: 'if (!ELEMENTS.has(name)) return children;',
    to: '',
    tests: [`${TESTS}hostile.test.ts`],
  },
  {
    name: 'another viewer does not see what the one before chose',
    file: `${VIEWER}app.ts`,
    from: 'if (before && !isSame) this.#forget();',
    to: '',
    tests: [`${TESTS}protocol.test.ts`],
  },
  {
    name: 'a dashboard that restricts downloads offers none',
    file: `${VIEWER}app.ts`,
    from: ' && this.dashboard?.restrictDataDownload !== true',
    to: '',
    tests: [`${TESTS}widgets.test.ts`],
  },
  {
    name: 'only allowed origins show embedded pages',
    file: `${SERVER}domains/embedded-pages/rules.ts`,
    from: "allowedOrigins.length === 0 ? '*'",
    to: "true ? '*'",
    tests: [`${TESTS}embedded-pages.test.ts`],
  },
  {
    name: 'an embedded page hears that its session was revoked',
    file: `${SERVER}domains/embed-sessions/embed-tokens.ts`,
    from: "if (revocations.isCurrent && revocations.covers(token)) return 'revoked';",
    to: '',
    tests: [`${SERVER}domains/embed-sessions/watch.test.ts`],
  },
  {
    name: 'the element hears only the window of its own frame',
    file: ELEMENT,
    from: '!source || source !== this.#frame?.contentWindow || ',
    to: '',
    tests: [`${TEST}embed-sdk.test.ts`],
  },
  {
    name: 'the element hears only the origin of its base-url',
    file: ELEMENT,
    from: ' || origin !== this.#origin',
    to: '',
    tests: [`${TEST}embed-sdk.test.ts`],
  },
  {
    name: 'the element gives a session only to the origin of its base-url',
    file: ELEMENT,
    from: 'postMessage(message, this.#origin)',
    to: "postMessage(message, '*')",
    tests: [`${TEST}embed-sdk.test.ts`],
  },
  {
    name: 'a session is in the fragment of the address, which no server sees',
    file: ELEMENT,
    from: 'url.hash = new URLSearchParams({ session: this.#inHand }).toString();',
    to: "url.searchParams.set('session', this.#inHand);",
    tests: [`${TEST}embed-sdk.test.ts`],
  },
  {
    name: 'the address of a frame is one of the web',
    file: ELEMENT,
    from: "if (!/^https?:$/.test(url.protocol)) throw new Error('it must begin with https:// or http://');",
    to: '',
    tests: [`${TEST}embed-sdk.test.ts`],
  },
  {
    name: 'one session is asked for at a time',
    file: ELEMENT,
    from: 'if (this.#isAsking || !this.#getSession) return;',
    to: 'if (!this.#getSession) return;',
    tests: [`${TEST}embed-sdk.test.ts`],
  },
];
