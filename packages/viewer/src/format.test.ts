import { expect, test } from 'vitest';
import { createFormats } from './format.ts';

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

test('large figures are short', () => {
  expect(formats.short(1_234_567, number)).toBe('1.2M');
  expect(formats.short('12345678901234567890', number)).toBe('12,345,678.9T');
  expect(formats.short(9999, number)).toBe('9,999');
  expect(formats.short('none', number)).toBe('–');
});

test.each([
  ['2024-05-01T00:00:00.000', 'month', 'May 2024'],
  ['2024-05-01T00:00:00.000', 'quarter', 'Q2 2024'],
  ['2024-05-01T00:00:00.000', undefined, 'May 1, 2024'],
  ['nothing', 'day', 'nothing'],
])('%s by %s', (time, name, text) => {
  const shown = { type: 'time', title: 'T', shortTitle: 'T', ...(name ? { granularity: { name } } : {}) };
  expect(formats.value(time, shown)).toBe(text);
});
