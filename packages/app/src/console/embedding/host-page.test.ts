import { describe, expect, test } from 'vitest';
import { checkHostPage } from './host-page.ts';

const rules = { origin: 'https://bi.example.com', allowedOrigins: ['https://app.example.com'] };
const check = (page: { address?: string; html?: string }, given = rules) =>
  checkHostPage({ address: '', html: '', ...page }, given);
const FRAME = 'https://bi.example.com/embed/dashboard/abc';

describe('the address of a host page', () => {
  test.each([
    ['https://app.example.com/reports?id=1', ['originAllowed']],
    ['https://app.example.com:8443/', ['originNotAllowed']],
    ['https://app.example.com.evil.example/', ['originNotAllowed']],
    ['http://app.example.com/', ['originNotAllowed', 'notEncrypted']],
    ['https://bi.example.com/test', ['originAllowed']],
    ['app.example.com', ['addressWrong']],
    ['javascript:alert(1)', ['addressWrong']],
  ])('%s: %j', (address, found) => expect(check({ address })).toEqual(found));

  test('without allowed origins every page may embed', () => {
    expect(check({ address: 'http://localhost:3000/' }, { ...rules, allowedOrigins: [] })).toEqual([
      'anyOriginAllowed',
    ]);
  });
});

describe('the HTML of a host page', () => {
  test.each([
    ['<p>Hello</p>', ['nothingEmbedded']],
    [`<!-- <iframe src="${FRAME}"></iframe> -->`, ['nothingEmbedded']],
    [`<iframe src="${FRAME}#session={{ session }}"></iframe>`, ['frameFound']],
    [`<iframe title='a > b' src='${FRAME}?theme=dark&amp;locale=de'></iframe>`, ['frameFound']],
    [`<iframe src="${FRAME}?session=x"></iframe>`, ['frameSessionInQuery']],
    [`<iframe src="${FRAME}#session=12.abcdefghijklmnopqrstuvwxyz"></iframe>`, ['frameSessionFixed']],
    [`<iframe src="https://bi.example.com/d/1"></iframe>`, ['frameWrongPath']],
    [`<iframe src="${FRAME}" sandbox="allow-scripts"></iframe>`, ['frameSandboxed']],
    [`<iframe src="${FRAME}" sandbox="allow-same-origin allow-scripts"></iframe>`, ['frameFound']],
    ['<iframe src="https://other.example/"></iframe>', ['nothingEmbedded']],
    [
      '<script type="module" src="/oriel/embed.js"></script><oriel-dashboard base-url="https://bi.example.com" public-id="abc"></oriel-dashboard>',
      ['elementFound'],
    ],
    [
      '<oriel-dashboard base-url="https://old.example.com" public-id="abc"></oriel-dashboard>',
      ['elementElsewhere', 'scriptMissing'],
    ],
    ['<script src="embed.js"></script><oriel-dashboard></oriel-dashboard>', ['elementIncomplete']],
    [
      `<meta http-equiv="Content-Security-Policy" content="default-src 'self'"><iframe src="${FRAME}"></iframe>`,
      ['frameFound', 'policyBlocks'],
    ],
    [
      `<meta http-equiv="Content-Security-Policy" content="default-src 'self'; frame-src https://bi.example.com"><iframe src="${FRAME}"></iframe>`,
      ['frameFound'],
    ],
    [
      `<script>const key = 'sk-0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'</script><iframe src="${FRAME}"></iframe>`,
      ['keyInPage', 'frameFound'],
    ],
  ])('%s: %j', (html, found) => expect(check({ html })).toEqual(found));
});
