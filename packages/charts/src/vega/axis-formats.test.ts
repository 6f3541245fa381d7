import { expect, test } from 'vitest';
import { createFormats } from '../format.ts';
import { axisFormats, linesOf, type VegaLocale } from './axis-formats.ts';

const own = {
  format: () => String,
  formatSpan: () => String,
  formatFloat: () => String,
  timeFormat: () => String,
  utcFormat: () => String,
} as unknown as VegaLocale;
const axis = (locale: string, currency = 'USD') =>
  axisFormats(own, locale, currency, createFormats(locale).points) as VegaLocale;
const ticks = (locale: string, specifier: string | undefined, values: number[]) =>
  values.map(axis(locale).formatSpan(values[0]!, values.at(-1)!, values.length - 1, specifier));
/** `Intl` writes spaces that do not break. */
const plain = (labels: (string | string[])[]) =>
  labels.map((label) => String(label).replaceAll(/[\u00a0\u202f\u2009]/g, ' '));

test.each([
  ['en', ['$0', '$500K', '$1M', '$1.5M']],
  ['de', ['0 $', '500.000 $', '1 Mio. $', '1,5 Mio. $']],
  ['fr', ['0 $US', '500 k $US', '1 M $US', '1,5 M $US']],
  ['es', ['0 US$', '500 mil US$', '1 M US$', '1,5 M US$']],
  ['ja', ['$0', '$50万', '$100万', '$150万']],
])('axes of %s use the number words of its figures, and begin with a plain zero', (locale, expected) => {
  const values = [0, 500_000, 1_000_000, 1_500_000];
  expect(plain(ticks(locale, '$~s', values))).toEqual(expected);
  const money = { type: 'number', title: '', shortTitle: '', format: 'currency' };
  const figures = values.slice(1).map((value) => createFormats(locale).short(value, money));
  expect(plain(ticks(locale, '$~s', values)).slice(1)).toEqual(plain(figures));
});

test.each([
  [undefined, [0, 2000, 4000], ['0', '2,000', '4,000']],
  [undefined, [0, 20_000, 40_000], ['0', '20K', '40K']],
  [undefined, [0, 0.2, 0.4], ['0.0', '0.2', '0.4']],
  ['~s', [1_000_000, 1_000_100, 1_000_200], ['1M', '1.0001M', '1.0002M']],
  ['~%', [0, 0.05, 0.1], ['0%', '5%', '10%']],
  ['.1f', [0, 1.5, 3], ['0.0', '1.5', '3.0']],
  ['.1f', [3.1, 3.15, 3.2], ['3.10', '3.15', '3.20']],
  ['d', [0, 0.5, 1], ['0.0', '0.5', '1.0']],
  ['.2s', [1_200_000, 1_250_000, 1_300_000], ['1.2M', '1.25M', '1.3M']],
  ['points', [-0.05, 0, 0.05], ['-5 pts', '0 pts', '+5 pts']],
  [',.0f', [0, 50_000], ['0', '50,000']],
  ['.2e', [0, 1], ['0', '1']],
])('%s writes the ticks %j', (specifier, values, expected) => {
  expect(ticks('en', specifier, values)).toEqual(expected);
});

const labels = (locale: string, times: string[]) =>
  times.map((time) => new Date(`${time}Z`)).map(axis(locale).utcFormat());

test.each([
  [
    ['2026-03-01', '2026-04-01', '2026-05-01'],
    [['Mar', '2026'], 'Apr', 'May'],
  ],
  [
    ['2025-11-01', '2025-12-01', '2026-01-01', '2026-02-01'],
    [['Nov', '2025'], 'Dec', '2026', 'Feb'],
  ],
  [
    ['2024-01-01', '2025-01-01'],
    ['2024', '2025'],
  ],
  [
    ['2025-12-29', '2026-01-05'],
    [
      ['Dec 29', '2025'],
      ['Jan 5', '2026'],
    ],
  ],
  [
    ['2026-03-03T22:00', '2026-03-03T23:00', '2026-03-04', '2026-03-04T01:00'],
    [['10:00 PM', 'Mar 3, 2026'], '11:00 PM', 'Mar 4', '1:00 AM'],
  ],
])('the times %j tell their year once', (times, expected) => {
  const given = labels(
    'en',
    times.map((time) => (time.length > 10 ? time : `${time}T00:00`)),
  );
  expect(given.map((label) => (Array.isArray(label) ? plain(label) : plain([label])[0]))).toEqual(expected);
});

test('a second round of labels tells the year again', () => {
  const format = axis('de').utcFormat();
  const march = new Date('2026-03-01T00:00Z');
  expect([format(march), format(march)]).toEqual([
    ['Mär', '2026'],
    ['Mär', '2026'],
  ]);
});

test.each([
  ['Storage', 12, ['Storage']],
  ['United States of America', 12, ['United', 'States of', 'America']],
  ['Donaudampfschifffahrt', 8, ['Donaudam', 'pfschiff', 'fahrt']],
  ['', 8, []],
])('%j in lines of %i', (text, characters, lines) => {
  expect(linesOf(text, characters)).toEqual(lines);
});

test('a long name ends after four lines', () => {
  const format = axis('en').format('wrap:8') as (value: string) => string[];
  expect(format('one two three four five six seven eight nine ten')).toEqual([
    'one two',
    'three',
    'four',
    'five six…',
  ]);
});
