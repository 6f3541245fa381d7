import { expect, test } from 'vitest';
import { fillMissing } from './query.ts';

const KEY = 'orders.at.day';
const query = {
  measures: ['orders.count'],
  dimensions: ['orders.status'],
  timeDimensions: [{ dimension: 'orders.at', granularity: 'day' }],
};
const snapshot = { reportId: 1, fillMissingRows: { member: 'orders.at' } };
const row = (day: string | null, status: string) => ({
  [KEY]: day && `${day}T00:00:00.000`,
  'orders.status': status,
  'orders.count': 1,
});

test('days without rows get rows with zeroes', () => {
  expect(fillMissing([row('2024-01-01', 'new'), row('2024-01-03', 'new')], query, snapshot)).toEqual([
    row('2024-01-01', 'new'),
    { ...row('2024-01-02', 'new'), 'orders.count': 0 },
    row('2024-01-03', 'new'),
  ]);
});

test('rows stay as they came if too many would be added', () => {
  const few = Array.from({ length: 100 }, (_, i) => row(i ? '2024-12-31' : '2024-01-01', `s${i}`));
  // 366 days of 100 states, less the 100 that are there.
  expect(fillMissing(few, query, snapshot)).toHaveLength(36_600);
  const many = Array.from({ length: 150 }, (_, i) => row(i ? '2024-12-31' : '2024-01-01', `s${i}`));
  expect(fillMissing(many, query, snapshot)).toBe(many);
  const long = [row('0001-01-01', 'new'), row('2024-12-31', 'new')];
  expect(fillMissing(long, query, snapshot)).toBe(long);
});

test('rows stay as they came if one of them has no time', () => {
  const rows = [row('2024-01-01', 'new'), row(null, 'new')];
  expect(fillMissing(rows, query, snapshot)).toBe(rows);
});
