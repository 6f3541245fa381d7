import { expect, test } from 'vitest';
import { createFormats } from '../format.ts';
import { createReader } from './datum.ts';

const member = (title: string, type: string) => ({ title, shortTitle: title, type });
const reader = createReader({
  members: [
    ['s_m', 's.m'],
    ['s_g', 's.g'],
    ['s_d', 's.d'],
  ],
  annotation: {
    measures: { 's.m': member('M', 'number') },
    dimensions: { 's.g': member('G', 'string'), 's.d': member('D', 'string') },
    timeDimensions: {},
  } as never,
  query: { measures: ['s.m'], dimensions: ['s.g', 's.d'] },
  isUtc: true,
  formats: createFormats('en', ((name: string) => name) as never),
  columnFormats: null,
  marks: new Map() as never,
});
const linesOf = (data: object[]) => {
  const spots = data.map((datum) => ({ mark: 'm', color: '#123', datum }));
  return reader.linesOf({ spots, chosen: spots[0] } as never).map(({ label, text }) => [label, text]);
};

test('what all rows have in common stands once, above what tells them apart', () => {
  const rows = [1, 2].map((s_m) => ({ s_m, s_g: `series ${s_m}`, s_d: 'the same' }));
  expect(linesOf(rows)).toEqual([
    ['D', 'the same'],
    ['series 1', '1'],
    ['series 2', '2'],
  ]);
});

test('the lines of very many rows at one place are found in a time by their number, not by its square', () => {
  const rows = Array.from({ length: 50_000 }, (_, i) => ({ s_m: i, s_g: `series ${i}`, s_d: 'the same' }));
  expect(linesOf(rows)).toHaveLength(50_001);
});

test('an object that a chart makes of a member is not looked at', () => {
  const rows = [{ s_g: 'one', sum_s_m: { of: 'any size' } }];
  expect(linesOf(rows)).toEqual([['G', 'one']]);
});
