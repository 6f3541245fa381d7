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

test('names that the chart makes of a value and a measure count as long as they are', () => {
  const titles = JSON.stringify({ a__revenue: 'Revenue of all', a__orders: 'Orders' });
  const spec = {
    ...chart(),
    data: [
      { name: 'rows' },
      {
        name: 'made',
        transform: [
          {
            type: 'formula',
            as: 'made',
            expr: `toString(datum["name"]) + ', ' + (${titles})[datum["series_measure"]]`,
          },
        ],
      },
    ],
    scales: [{ name: 'color', type: 'ordinal', domain: { data: 'made', field: 'made' } }],
  } as Record<string, unknown>;
  fitSpec(spec, rows(3, 'a longer name'), ROOM);
  expect(spec.legends).toMatchObject([{ columns: 1 }]);
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

test('turned names have one line each, close to each other and as long as there is room', () => {
  const turned = (more: object = {}) => {
    const spec: Record<string, unknown> = {
      ...chart(),
      scales: [{ name: 'x', type: 'band', range: 'width', domain: { data: 'rows', field: 'name' } }],
      axes: [{ scale: 'x', orient: 'bottom', labelAngle: 270, ...more }],
    };
    fitSpec(spec, rows(40, 'a long name that nobody reads at once'), ROOM);
    return (spec.axes as object[])[0];
  };
  expect(turned()).toMatchObject({ labelLimit: 0.36 * ROOM.height, labelSeparation: 0 });
  expect(turned()).not.toHaveProperty('format');
  expect(turned({ labelLimit: 40 })).toMatchObject({ labelLimit: 40 });
  expect(turned({ labelAngle: 0 })).toHaveProperty('format');
});
