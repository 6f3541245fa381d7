import { expect, test } from 'vitest';
import { pivotOf } from './pivot.ts';

test('values become rows and columns, and cells keep their rows', () => {
  const rows = [
    { m: '2026-02', s: 'b', n: 1 },
    { m: '2026-01', s: 'a', n: 2 },
    { m: '2026-02', s: null, n: 3 },
    { m: '2026-01', s: 'b', n: 4 },
  ];
  const { rows: downs, columns, at } = pivotOf(rows, { rows: ['s'], columns: ['m'], measures: ['n'] });
  expect(downs).toEqual([['b'], ['a'], [null]]);
  expect(columns).toEqual([['2026-01'], ['2026-02']]);
  expect(downs.map((_, i) => columns.map((__, j) => at(i, j)?.n))).toEqual([
    [4, 1],
    [2, undefined],
    [undefined, 3],
  ]);
});

test('without columns there is one for each measure, and too many columns are cut', () => {
  expect(pivotOf([{ s: 'a', n: 1 }], { rows: ['s'], columns: [], measures: ['n'] }).columns).toEqual([[]]);
  const many = Array.from({ length: 300 }, (_, i) => ({ s: i, n: i }));
  const cut = pivotOf(many, { rows: [], columns: ['s'], measures: ['n'] });
  expect([cut.columns.length, cut.isCut, cut.at(0, 199)]).toEqual([200, true, { s: 199, n: 199 }]);
});
