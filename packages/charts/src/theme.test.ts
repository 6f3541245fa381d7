import { expect, test } from 'vitest';
import { contrast } from './color.ts';
import { themeOptionsOf, tokensOf } from './theme.ts';
import { distance } from './vega/palette.ts';

test('the theme of a dashboard sets colours, corners and the font', () => {
  const theme = {
    primaryColor: '#0A0',
    dashboard: { backgroundColor: 'rgb(250, 250, 250)' },
    widgets: { backgroundColor: '#fefefe', border: { radius: '4px' }, text: { fontFamily: 'Inter' } },
  };
  expect(themeOptionsOf(theme)).toEqual({
    accent: '#00aa00',
    background: '#fafafa',
    surface: '#fefefe',
    radius: 4,
    font: expect.stringMatching(/^"Inter", /),
  });
  const { radius, font } = tokensOf('light', [{ radius: 10 }, themeOptionsOf(theme)]);
  expect([radius, font]).toEqual([4, themeOptionsOf(theme).font]);
});

test.each(['red', 'url(x)', '#12345', 'rgb(1,2)', 'var(--x)', 7, null])(
  'the colour %j is left out',
  (color) => {
    expect(themeOptionsOf({ primaryColor: color }).accent).toBeUndefined();
  },
);

test('fonts are names and nothing else', () => {
  const font = (text: unknown) => themeOptionsOf({ font: text }).font;
  expect(font('Inter; color: red')).toBeUndefined();
  expect(font('url(//a.example/f)')).toBeUndefined();
  expect(font('a'.repeat(201))).toBeUndefined();
  expect(font("'My Font', url(x)")).toMatch(/^"My Font", system-ui/);
});

test('a radius stays within bounds', () => {
  expect(['-3px', '99', 'round'].map((radius) => themeOptionsOf({ borderRadius: radius }).radius)).toEqual([
    0,
    32,
    undefined,
  ]);
});

test('text stays readable whatever the host chooses', () => {
  for (const scheme of ['light', 'dark'] as const) {
    for (const color of ['#ffffff', '#000000', '#ffff00', '#777777']) {
      const { ink, accent, accentInk, surface, background } = tokensOf(scheme, [
        { accent: color, surface: color, background: color },
      ]);
      expect(contrast(ink, surface)).toBeGreaterThanOrEqual(7);
      expect(contrast(ink, background)).toBeGreaterThanOrEqual(7);
      expect(contrast(accent, surface)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(accentInk, accent)).toBeGreaterThanOrEqual(4.5);
    }
  }
});

const ACCENTS = [undefined, '#d9730d', '#00aa00', '#777777'];

test.each(['light', 'dark'] as const)(
  'the lowest value of a map is not the colour of no data in the %s',
  (scheme) => {
    for (const accent of ACCENTS) {
      const { ramp, land } = tokensOf(scheme, [accent ? { accent } : {}]);
      expect(distance(ramp[0]!, land)).toBeGreaterThan(0.1);
    }
  },
);
