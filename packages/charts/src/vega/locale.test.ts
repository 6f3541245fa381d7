import { expect, test } from 'vitest';
import { chartLocale, withFormats } from './locale.ts';

test.each([
  ['en', { decimal: '.', thousands: ',', grouping: [3, 3], currency: ['$', ''] }],
  ['de', { decimal: ',', thousands: '.', grouping: [3, 3], currency: ['', '\u00a0$'] }],
  ['fr', { decimal: ',', thousands: '\u202f', grouping: [3, 3], currency: ['', '\u00a0$US'] }],
])('axes write numbers as people who read %s', (locale, number) => {
  expect(chartLocale(locale, 'USD').number).toEqual(number);
});

test('axes have the names of days and months of the locale', () => {
  const { shortMonths, days } = chartLocale('de', 'EUR').time;
  expect([shortMonths[2], days[0]]).toEqual(['Mär', 'Sonntag']);
});

test('an axis has the format of its measure, unless it has one of its own or shows something else', () => {
  const shown = (format: string) => ({ title: '', shortTitle: '', type: 'number', format });
  const measures = [
    { key: 'sales__amount', shown: shown('currency'), format: undefined },
    { key: 'sales__share', shown: shown('percent'), format: undefined },
    { key: 'sales__amount__percent', shown: shown('percent'), format: undefined },
    { key: 'sales__share__change', shown: shown('points'), format: undefined },
    { key: 'sales__count', shown: shown('number'), format: undefined },
  ];
  const scale = (name: string, field: string, type = 'linear') => ({
    name,
    type,
    domain: { data: 'rows', field },
  });
  const scales = [
    scale('a', 'sum_sales__amount'),
    scale('b', 'sales__share'),
    scale('c', 'sales__count'),
    scale('d', 'sales__amount', 'band'),
    scale('e', 'sales__amount__percent'),
    scale('f', 'sales__share__change'),
  ];
  const axes = [
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ scale: name })),
    { scale: 'a', format: '.2f' },
  ];
  expect(withFormats(axes, scales, measures)).toEqual([
    { scale: 'a', format: '$~s' },
    { scale: 'b', format: '~%' },
    { scale: 'c' },
    { scale: 'd' },
    { scale: 'e', format: '~%' },
    { scale: 'f', format: 'points' },
    { scale: 'a', format: '.2f' },
  ]);
});
