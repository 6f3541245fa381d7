import { wcagContrast } from 'culori';
import { assert, integer, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { html } from '../../platform/http/html.ts';
import { shownUserCode } from '../device-codes/index.ts';
import { pageOf } from './layout.ts';
import { ownAddress } from './own-address.ts';
import { PART_CONTRAST, paletteOf, type Scheme, TEXT_CONTRAST } from './palette.ts';
import { themeOf } from './theme.ts';
import { inWords } from './views/parts.ts';
import { programOf } from './views/program.ts';

describe('after signing in, people stay on this server', () => {
  test.each(['/account', '/device?user_code=WDJB-MJHT', '/a/b?c=%2F%2Fevil.example'])(
    '%s is ours',
    (address) => {
      expect(ownAddress(address, '/account')).toBe(address);
    },
  );

  test.each([
    undefined,
    '',
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/.//evil.example',
    '/x/..//evil.example',
    'javascript:alert(1)',
    'account',
    '//',
  ])('%j is not, and leads to the page of the account', (address) => {
    expect(ownAddress(address, '/account')).toBe('/account');
  });
});

test.each([
  '/sign-in/provider?link=x',
  '/sign-out/provider',
  '/sign%2Din/provider',
  '/x/../sign-in/provider',
  '/sign-in%2Fprovider',
  '/%',
])('nobody is led to %s, which does something when it is opened', (address) => {
  expect(ownAddress(address, '/account')).toBe('/account');
});

describe('the colours of the account', () => {
  const fallback: Scheme = { accentColor: '#3451c6', backgroundColor: '#fff', foregroundColor: '#111' };

  const expectReadable = (scheme: Scheme) => {
    const palette = paletteOf(scheme, fallback);
    const contrast = (a: keyof typeof palette, b: keyof typeof palette) =>
      wcagContrast(palette[a], palette[b]);
    for (const name of ['text', 'muted', 'link', 'danger'] as const)
      expect([scheme, name, contrast(name, 'surface')]).toEqual([
        scheme,
        name,
        expect.toSatisfy((c) => c >= TEXT_CONTRAST),
      ]);
    for (const name of ['accent', 'field-line'] as const)
      expect([scheme, name, contrast(name, 'surface')]).toEqual([
        scheme,
        name,
        expect.toSatisfy((c) => c >= PART_CONTRAST),
      ]);
    expect(contrast('on-accent', 'accent')).toBeGreaterThanOrEqual(TEXT_CONTRAST);
    for (const color of Object.values(palette)) expect(color).toMatch(/^#[0-9a-f]{6}$/);
  };

  test('can be read, whatever they are', () => {
    const color = integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, '0')}`);
    return assert(
      property(
        record({ accentColor: color, backgroundColor: color, foregroundColor: color }),
        expectReadable,
      ),
    );
  });

  test.each([
    ['white', 'white', 'white'],
    ['#777', '#777', '#777'],
    ['oklch(0.7 0.4 140)', 'hsl(0 0% 50%)', 'rgb(0 0 0 / 10%)'],
    ['no colour', 'red;}body{display:none', '</style><script>'],
    ['rgb(none none none)', 'color(display-p3 1 0 0)', 'transparent'],
  ])('such as %s on %s with %s', (accentColor, backgroundColor, foregroundColor) => {
    expectReadable({ accentColor, backgroundColor, foregroundColor });
  });

  test('are kept if they can be read', () => {
    const scheme = {
      accentColor: 'rebeccapurple',
      backgroundColor: '#FFF',
      foregroundColor: 'rgb(20, 20, 20)',
    };
    expect(paletteOf(scheme, fallback)).toMatchObject({
      accent: '#663399',
      surface: '#ffffff',
      text: '#141414',
    });
  });
});

describe('a theme', () => {
  const scheme = (logoUrl: string) => ({
    accentColor: 'teal',
    backgroundColor: 'white',
    foregroundColor: 'black',
    contrast: 4.5,
    logoUrl,
  });
  const themed = (light: string, dark: string, workspaceTitle = 'Acme') =>
    themeOf({
      embedding: {},
      appConfig: {
        appTheme: { light: scheme(light), dark: scheme(dark) },
        applyThemeGlobally: true,
        creatorMode: { workspaceTitle },
      },
    } as never);
  const view = { title: 'A page', body: html`<h1>A page</h1>` };

  test('cannot smuggle anything into the page or its policy', () => {
    const hostile = `https://evil.example/"><script>alert(1)</script>;script-src *`;
    const theme = themed(hostile, `${hostile} 'unsafe-inline'`, '</title><script>alert(1)</script>');
    const { html: text, headers } = pageOf(view, theme);
    expect(text).not.toContain('<script');
    expect(headers['content-security-policy']).not.toMatch(/script-src|unsafe/);
    expect(headers['content-security-policy']).toContain("img-src 'self' https://evil.example;");
  });

  test.each([
    'https://a;sandbox/x.png',
    "https://a'unsafe-inline'/x.png",
    'https://a,script-src/x.png',
    'https://*.example/x.png',
  ])('shows no logo whose host could change the policy: %s', (address) => {
    const theme = themed(address, 'https://b.example:8443/x.png');
    expect(theme.contentSecurityPolicy).toContain("img-src 'self' https://b.example:8443;");
    expect(theme.logo?.light).toBe('https://b.example:8443/x.png');
  });

  test('of one logo shows it in both schemes, and one without a logo shows the name', () => {
    expect(themed('https://a.example/l.svg', '').logo).toEqual({
      light: 'https://a.example/l.svg',
      dark: 'https://a.example/l.svg',
    });
    expect(pageOf(view, themed('', '')).html).toContain('<span>Acme</span>');
    expect(themed('http://', '').logo).toBeUndefined();
  });
});

test.each([
  ['wdjbmjht', 'WDJB-MJHT'],
  [' WDJB – mjht ', 'WDJB-MJHT'],
  ['wdjb', 'WDJB'],
])('the code %j is shown as %s', (typed, shown) => expect(shownUserCode(typed)).toBe(shown));

test.each([
  [1, 'in a second'],
  [89, 'in 89 seconds'],
  [90, 'in 2 minutes'],
  [841, 'in 15 minutes'],
])('%i seconds are shown as "%s"', (seconds, words) => expect(inWords(seconds)).toBe(words));

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    'Edge on Windows',
  ],
  ['curl/8.5.0', 'curl/8.5.0'],
])('%s is shown as %s', (userAgent, name) => expect(programOf(userAgent)).toBe(name));
