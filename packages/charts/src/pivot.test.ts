import { expect, test } from 'vitest';
import { type PivotSort, pivotOf, sortedPlaces } from './pivot.ts';

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

test('rows are sorted by what they are, by a column and by their total, those without a value last', () => {
  const rows = [
    { m: 1, s: 'b', n: '10' },
    { m: 2, s: 'b', n: '9' },
    { m: 1, s: null, n: '2' },
    { m: 2, s: 'a', n: '100' },
    { m: 1, s: 'c', n: null },
  ];
  const spec = { rows: ['s'], columns: ['m'], measures: ['n'] };
  const pivot = pivotOf(rows, spec);
  const sorted = (sort: PivotSort | undefined) =>
    sortedPlaces(pivot, spec, sort).map((place) => pivot.rows[place]![0]);
  expect(sorted(undefined)).toEqual(['b', null, 'a', 'c']);
  expect(sorted({ member: 's', desc: false })).toEqual(['a', 'b', 'c', null]);
  expect(sorted({ member: 's', desc: true })).toEqual(['c', 'b', 'a', null]);
  expect(sorted({ member: 'n', column: 0, desc: true })).toEqual(['b', null, 'a', 'c']);
  expect(sorted({ member: 'n', column: 0, desc: false })).toEqual([null, 'b', 'a', 'c']);
  expect(sorted({ member: 'n', column: 'total', desc: true })).toEqual(['a', 'b', null, 'c']);
});

test('without columns there is one for each measure, and too many columns are cut', () => {
  expect(pivotOf([{ s: 'a', n: 1 }], { rows: ['s'], columns: [], measures: ['n'] }).columns).toEqual([[]]);
  const many = Array.from({ length: 300 }, (_, i) => ({ s: i, n: i }));
  const cut = pivotOf(many, { rows: [], columns: ['s'], measures: ['n'] });
  expect([cut.columns.length, cut.isCut, cut.at(0, 199)]).toEqual([200, true, { s: 199, n: 199 }]);
});
