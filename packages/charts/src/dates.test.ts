import { expect, test } from 'vitest';
import { add, daysOf, startOf, unitOf } from './dates.ts';

test.each([
  ['2024-01-31', 1, 'month', '2024-02-29'],
  ['2024-03-31', -1, 'quarter', '2023-12-31'],
  ['2024-02-29', 1, 'year', '2025-02-28'],
  ['2024-12-31', 1, 'day', '2025-01-01'],
  ['2024-03-01', -1, 'week', '2024-02-23'],
] as const)('%s and %i %s is %s', (date, amount, unit, sum) => {
  expect(add(date, amount, unit)).toBe(sum);
});

test('dates are moved by units that are known only', () => {
  const names = [
    'day',
    'days',
    'weeks',
    'months',
    'quarters',
    'years',
    'hour',
    'fiscal_year',
    'toString',
    '',
  ];
  expect(names.map(unitOf)).toEqual([
    ...['day', 'day', 'week', 'month', 'quarter', 'year'],
    ...[undefined, undefined, undefined, undefined],
  ]);
});

test.each([
  ['2024-05-15', 'day', '2024-05-15'],
  ['2024-05-19', 'week', '2024-05-13'],
  ['2024-05-15', 'month', '2024-05-01'],
  ['2024-05-15', 'quarter', '2024-04-01'],
  ['2024-05-15', 'year', '2024-01-01'],
] as const)('%s is in the %s that begins on %s', (date, unit, start) => {
  expect(startOf(date, unit)).toBe(start);
});

test.each<[string | string[], [string, string] | undefined]>([
  ['today', ['2024-05-15', '2024-05-15']],
  ['yesterday', ['2024-05-14', '2024-05-14']],
  ['This month', ['2024-05-01', '2024-05-31']],
  ['last week', ['2024-05-06', '2024-05-12']],
  ['last 2 quarters', ['2023-10-01', '2024-03-31']],
  ['2024-01-01', ['2024-01-01', '2024-01-01']],
  [
    ['2024-01-01T00:00:00.000', '2024-02-02'],
    ['2024-01-01', '2024-02-02'],
  ],
  ['last 3 hours', undefined],
  ['last 99999999999999 days', undefined],
  ['from now on', undefined],
  [['yesterday', 'today'], undefined],
])('the days of %j', (range, days) => {
  expect(daysOf(range, '2024-05-15')).toEqual(days);
});
