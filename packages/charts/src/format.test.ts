import { expect, test } from 'vitest';
import { createFormats, measureIn, shownOf } from './format.ts';
import { en } from './texts/en.ts';
import { sayWith } from './texts/index.ts';

const number = { type: 'number', title: 'N', shortTitle: 'N' };
const money = { ...number, format: 'currency', meta: { currency: 'EUR' } };
const formats = createFormats('en');

test.each<[unknown, object | undefined, object | undefined, string]>([
  [null, number, undefined, '–'],
  ['', number, undefined, '–'],
  [1234.567, number, undefined, '1,234.57'],
  ['9007199254740993', number, undefined, '9,007,199,254,740,993'],
  ['-12345678901234567.25', number, undefined, '-12,345,678,901,234,567.25'],
  ['text', number, undefined, 'text'],
  ['42', undefined, undefined, '42'],
  [12.5, money, undefined, '€12.50'],
  [1234.5, money, undefined, '€1,235'],
  [1234.5, money, { type: 'currency', decimalPlaces: 2 }, '€1,234.50'],
  [0.125, number, { type: 'percent' }, '12.5%'],
])('%j is shown as the text of its column says', (given, shown, override, text) => {
  expect(formats.value(given, shown as never, override as never)).toBe(text);
});

test.each<[string, object, unknown[], string[]]>([
  ['numbers', number, [1.5, 2, '3.10', null], ['1.5', '2.0', '3.1', '–']],
  ['whole numbers', number, [1, '2000'], ['1', '2,000']],
  ['money', money, [12.5, 1234.5], ['€12.50', '€1,234.50']],
  ['large money', money, [1234.5, 0], ['€1,235', '€0']],
  ['money without cents', { ...money, meta: { currency: 'JPY' } }, [12], ['¥12']],
  ['ids', { ...number, isDimension: true }, [1234567, '9007199254740993'], ['1234567', '9007199254740993']],
  ['counts of a dimension', { ...number, isDimension: true, format: 'number' }, [1234567], ['1,234,567']],
])('a column of %s has one number of decimals', (_what, shown, values, texts) => {
  const format = formats.column(values, shown as never);
  expect(values.map((value) => formats.value(value, shown as never, format))).toEqual(texts);
});

test('the change of a rate is told in points', () => {
  const rate = { ...number, format: 'percent' };
  const annotation = { measures: { 'a.rate': rate }, dimensions: {}, timeDimensions: {} };
  expect(formats.value(0.0125, shownOf(annotation, 'a.rate.change'))).toBe('+1.3 pts');
  expect(formats.value(0.0125, shownOf(annotation, 'a.rate.previous'))).toBe('1.3%');
});

test.each([
  [['2026-01-01', '2026-12-31'], '2026'],
  [['2025-11-01', '2026-10-31'], 'Nov 2025 – Oct 2026'],
  [['2026-11-01', '2026-11-17'], 'Nov 1 – 17, 2026'],
])('the days %j are %s', (days, text) => {
  expect(formats.period(days as [string, string]).replaceAll('\u2009', ' ')).toBe(text);
});

test('the ends of a scale use one number word, or none', () => {
  const plain = (texts: string[]) => texts.map((text) => text.replaceAll('\u00a0', ' '));
  const dollars = { ...number, format: 'currency' };
  expect(plain(createFormats('de').ends([531_151.9, 1_512_345.6], dollars))).toEqual([
    '531.152 $',
    '1.512.346 $',
  ]);
  expect(plain(createFormats('de').ends([1_200_000, 1_512_345.6], dollars))).toEqual([
    '1,2 Mio. $',
    '1,5 Mio. $',
  ]);
  expect(plain([createFormats('de').short(531_151.9, dollars)])).toEqual(['531.152 $']);
});

test('one row is no rows', () => {
  const say = sayWith(en);
  expect([say('rows', { count: '1' }), say('rows', { count: '21' })]).toEqual(['1 row', '21 rows']);
});

test('large figures are short', () => {
  expect(formats.short(1_234_567, number)).toBe('1.2M');
  expect(formats.short('12345678901234567890', number)).toBe('12,345,678.9T');
  expect(formats.short(9999, number)).toBe('9,999');
  expect(formats.short('none', number)).toBe('–');
});

test.each([
  ['2024-05-01T00:00:00.000', 'month', 'May 2024'],
  ['2024-05-01T00:00:00.000', 'quarter', 'Q2 2024'],
  ['2026-01-12T00:00:00.000', 'week', 'Jan 12 – 18, 2026'],
  ['2024-05-01T00:00:00.000', undefined, 'May 1, 2024'],
  ['nothing', 'day', 'nothing'],
])('%s by %s', (time, name, text) => {
  const shown = { type: 'time', title: 'T', shortTitle: 'T', ...(name ? { granularity: { name } } : {}) };
  expect(formats.value(time, shown).replaceAll('\u2009', ' ')).toBe(text);
});

test('what a query calculates and compares is a measure of it too', () => {
  const query = { measures: ['sales.revenue'], calculated: [{ name: 'share', kind: 'shareOfTotal' }] };
  const members = ['sales.revenue', 'sales.revenue.previous', 'share', 'sales.orders', 'sales.revenue.other'];
  expect(members.filter((member) => measureIn(query, member))).toEqual(members.slice(0, 3));
});
