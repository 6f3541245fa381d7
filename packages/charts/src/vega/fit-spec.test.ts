import { expect, test } from 'vitest';
import { fitSpec } from './fit-spec.ts';
import type { Room } from './spec-parts.ts';

const ROOM: Room = { width: 360, height: 240, isRightToLeft: false, measure: (text) => text.length * 6 };
const chart = () => ({
  scales: [
    { name: 'x', type: 'linear', range: [0, { signal: 'width' }] },
    { name: 'y', type: 'band', range: [0, { signal: 'height' }] },
    { name: 'color', type: 'ordinal', domain: { data: 'rows', field: 'name' }, range: 'category' },
  ],
  axes: [
    { scale: 'x', orient: 'bottom' },
    { scale: 'y', orient: 'left' },
  ],
  legends: [{ fill: 'color', symbolType: 'circle' }],
});
const rows = (count: number, name: string) =>
  Array.from({ length: count }, (_, i) => ({ name: `${name} ${i}` }));
const fitted = (given: { name: string }[], room: Partial<Room> = {}) => {
  const spec = chart() as Record<string, unknown>;
  fitSpec(spec, given, { ...ROOM, ...room });
  return spec as never as ReturnType<typeof chart> & { height: number; legends: { columns: number }[] };
};

test('entries of a legend have as many columns as fit', () => {
  expect(fitted(rows(3, 'a')).legends[0]!.columns).toBe(3);
  expect(fitted(rows(3, 'a longer name')).legends[0]!.columns).toBe(2);
  expect(fitted(rows(3, 'a very long name of a series that needs a line')).legends[0]!.columns).toBe(1);
});

test('a chart with many entries is higher than its card, and one with few is not', () => {
  expect(fitted(rows(3, 'a')).height).toBe(240);
  expect(fitted(rows(30, 'a longer name')).height).toBe(150 + 15 * 16);
});

test('names at an axis wrap, and a legend beside a narrow chart moves above it', () => {
  expect(fitted([]).axes[1]).toMatchObject({ format: 'wrap:20' });
  expect(fitted([]).axes[0]).not.toHaveProperty('format');
  const spec = { ...chart(), legends: [{ fill: 'color', orient: 'right' }] } as Record<string, unknown>;
  fitSpec(spec, [], ROOM);
  expect(spec.legends).toMatchObject([{ orient: 'top' }]);
  fitSpec(spec, [], { ...ROOM, width: 900 });
  expect(spec.legends).toMatchObject([{ orient: 'top' }]);
});

test('a chart of a right-to-left page is mirrored', () => {
  const { scales, axes } = fitted([], { isRightToLeft: true });
  expect(scales).toMatchObject([{ name: 'x', reverse: true }, { name: 'y' }, { name: 'color' }]);
  expect(scales[1]).not.toHaveProperty('reverse');
  expect(axes).toMatchObject([{ orient: 'bottom' }, { orient: 'right' }]);
});
